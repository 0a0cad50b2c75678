"""What only the status report has; the rest of the style is that of all reports."""

STATUS_STYLE = """
svg .doubt { fill: var(--doubt); } svg .pale { fill: var(--similar); }
svg .pale.bad { fill: var(--wrong); opacity: .35; }
svg .cost { fill: var(--accent); } svg .quiet { fill: var(--soft); } svg .value { fill: var(--soft); font-size: 12px; }
.key.doubt::before { background: var(--doubt); } .key.queued::before { background: var(--accent); }
.key.pale::before { background: var(--similar); } .key.retried::before { background: var(--wrong); opacity: .35; }
.key.faint::before { background: var(--panel); border: 1px solid var(--line); }
.tiles { grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); }
p.keys { margin: .2rem 0 .6rem; color: var(--soft); font-size: .85rem; }
details { margin-top: .4rem; } summary { color: var(--soft); font-weight: 500; font-size: .9rem; }
tbody td, tbody th { white-space: nowrap; }
td .long { display: inline-block; width: 28rem; white-space: normal; overflow-wrap: anywhere; }
@media print { details { display: none; } body { max-width: none; } }
"""
