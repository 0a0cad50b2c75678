"""How our reports look: one style sheet, for light and dark. What only one report has is added by that report."""

STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfb; --ink: #1d2126; --soft: #626a73; --line: #e1e4e8; --panel: #f3f4f6;
  --right: #2f7d5b; --wrong: #c2413b; --similar: #a5cdb9; --accent: #2b62b5; --doubt: #9a6a00; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16191d; --ink: #e5e8eb; --soft: #98a1ab; --line: #2f353c; --panel: #1e2328;
    --right: #55b58a; --wrong: #ef7a73; --similar: #2f5c49; --accent: #7fb0f5; --doubt: #e0b04d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 5rem; max-width: 74rem; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 3rem 0 .8rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 2.5rem 0 .2rem; overflow-wrap: anywhere; }
p { margin: .3rem 0 .8rem; max-width: 60rem; }
.note { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; margin: .4rem 0 1rem; }
th, td { padding: .3rem .9rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 500; white-space: nowrap; }
tbody th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; }
.fields td { overflow-wrap: anywhere; } .fields th { white-space: nowrap; }
summary { cursor: pointer; font-weight: 600; margin: .8rem 0; }
td span.right, .good { color: var(--right); } td span.similar { color: var(--doubt); }
td span.wrong, .bad { color: var(--wrong); }
.doubtful { color: var(--doubt); } .quiet { color: var(--soft); }
abbr { text-decoration: none; color: var(--soft); }
.badge { font-size: .78rem; font-weight: 600; border: 1px solid; border-radius: 1rem; padding: .08rem .6rem;
  margin-left: .4rem; white-space: nowrap; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .8rem;
  margin: 1.5rem 0; }
.tile { background: var(--panel); border-radius: .6rem; padding: .9rem 1.1rem; }
.tile b { display: block; font-size: 1.6rem; font-weight: 600; letter-spacing: -.01em;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tile small { color: var(--soft); display: block; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 2rem 3rem;
  margin-top: 2rem; }
figure { margin: 0; } figcaption { color: var(--soft); font-size: .85rem; margin: .3rem 0 0; }
.plots figcaption { max-width: 30rem; }
svg { width: 100%; height: auto; display: block; margin-bottom: .8rem; } svg text { font-size: 12px; fill: var(--ink); }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .name, svg .note { fill: var(--soft); } svg .grid { stroke: var(--line); stroke-width: 1; }
svg .track { fill: var(--panel); } svg .right { fill: var(--right); } svg .similar { fill: var(--similar); }
svg .wrong { fill: var(--wrong); } svg .guide { stroke: var(--soft); stroke-dasharray: 4 4; fill: none; }
svg .curve { fill: none; stroke-width: 2; } svg .curve.documents { stroke: var(--accent); }
svg .curve.fields { stroke: var(--right); } svg .dot.documents, svg .now { fill: var(--accent); }
svg .dot.fields { fill: var(--right); } svg .now { stroke: var(--paper); stroke-width: 2; }
.key::before { content: ""; display: inline-block; width: .7em; height: .7em; border-radius: .2em; margin-right:
  .35em; }
.key { margin-right: 1em; } .key.right::before, .key.fields::before { background: var(--right); }
.key.wrong::before { background: var(--wrong); } .key.similar::before { background: var(--similar); }
.key.documents::before { background: var(--accent); }
ul { margin: .2rem 0 1rem; padding-left: 1.2rem; } li { overflow-wrap: anywhere; }
"""
