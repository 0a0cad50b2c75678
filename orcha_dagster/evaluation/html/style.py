"""How the worst cases look: pages with boxes on them. The rest of the style is that of all reports."""

CASES_STYLE = """
.case { display: grid; grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); gap: 1.8rem; margin-top: .8rem; }
@media (max-width: 52rem) { .case { grid-template-columns: 1fr; } }
.pages { display: grid; gap: 1rem; align-content: start; }
.page { position: relative; border: 1px solid var(--line); background: #fff; }
.page img { width: 100%; display: block; }
.box { position: absolute; border: 1.5px solid; border-radius: 2px; }
.box.right { color: #1c7a52; } .box.wrong { color: #c22f28; background: #c22f2822; } .box.similar { color: #9a6a00; }
.box b { position: absolute; left: -1.5px; bottom: 100%; font-size: 9px; line-height: 12px; padding: 0 3px; color: #fff;
  white-space: nowrap; background: #1c7a52; border-radius: 2px 2px 0 0; opacity: .9; }
.box.wrong b { background: #c22f28; } .box.similar b { background: #9a6a00; }
"""
