"""What only the status report has; the rest of the style is that of all reports."""

STATUS_STYLE = """
.tiles { grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); }
p.keys { margin: .2rem 0 .6rem; color: var(--soft); font-size: .85rem; } p.keys .key { display: inline-block; }
.key.doubt::before { background: var(--doubt); } .key.queued::before { background: var(--accent); }
.key.pale::before { background: var(--similar); } .key.retried::before { background: var(--wrong); opacity: .35; }
.bars { display: grid; grid-template-columns: fit-content(24rem) minmax(8rem, 32rem) fit-content(20rem);
  gap: .45rem .9rem; align-items: center; margin: .6rem 0 1rem; font-size: .9rem; line-height: 1.35; }
.bar { display: contents; }
.bar .name, .bar .words { overflow-wrap: anywhere; } .bar .words { color: var(--soft); }
.bar .words { font-variant-numeric: tabular-nums; }
.track { position: relative; height: 1.1rem; border-radius: 3px; background: var(--panel); overflow: hidden; }
.track i { position: absolute; top: 0; bottom: 0; border-radius: 3px; background: var(--accent); }
.track .right { background: var(--right); } .track .doubt { background: var(--doubt); }
.track .wrong { background: var(--wrong); } .track .pale { background: var(--similar); }
.track .quiet { background: var(--soft); } .track .pale.bad { background: var(--wrong); opacity: .35; }
.periods { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .5rem .6rem; padding: .6rem 0;
  margin: .6rem 0; color: var(--soft); font-size: .8rem; font-variant-numeric: tabular-nums; }
.periods svg { height: 14rem; max-width: none; margin: 0; overflow: visible; }
.periods .doubt { fill: var(--doubt); }
.periods .curve { stroke: var(--accent); stroke-linecap: round; stroke-linejoin: round; }
.periods .curve.point { stroke-width: 9; }
.periods .curve, .periods .grid { vector-effect: non-scaling-stroke; }
.scale, .moments { display: flex; justify-content: space-between; }
.scale { flex-direction: column; line-height: 0; text-align: right; }
.moments { grid-column: 2; }
details { margin-top: .4rem; } summary { color: var(--soft); font-weight: 500; font-size: .9rem; }
tbody td, tbody th { white-space: nowrap; }
td .long, th .long { display: inline-block; width: 28rem; white-space: normal; overflow-wrap: anywhere; }
@media (max-width: 48rem) {
  .tile b { font-size: 1.3rem; } .periods .curve { stroke-width: 1.2; }
  .bars { display: block; } .bar { display: grid; grid-template-columns: minmax(5rem, 1fr) fit-content(65%);
    gap: .15rem .8rem; }
  .bar { margin-bottom: .6rem; } .bar .words { text-align: right; }
  .track { grid-row: 2; grid-column: 1 / -1; height: .8rem; }
  .moments span:nth-child(2):not(:last-child) { display: none; } .moments span:last-child { text-align: right; }
}
@media print {
  details { display: none; } body { max-width: none; padding: 0; } .wide { overflow: visible; }
  table { font-size: 7pt; } h2, .note, .keys { break-after: avoid; } .bar, .periods, .tile { break-inside: avoid; }
  .track, .track i, .tile, .key::before { print-color-adjust: exact; }
}
"""
