/** The style of the page for light and dark screens, narrow ones, and print. */
export const pageStyle = `
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --shade: #f4f6f8; --accent: #2f5fc4; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181d; --ink: #e3e7ec; --soft: #9aa4b0; --line: #343b45; --shade: #1d2229; --accent: #86a9f0; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 24px 20px 80px; }
h1 { font-size: 30px; line-height: 1.2; margin: 16px 0 4px; }
h2 { font-size: 21px; margin: 44px 0 8px; padding-top: 12px; border-top: 1px solid var(--line); }
h3 { font-size: 16px; margin: 24px 0 4px; }
p { margin: 6px 0; }
.soft, figcaption, .note { color: var(--soft); font-size: 14px; }
code { font: 13px/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
.scroll { overflow-x: auto; margin: 10px 0; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 12px 4px 0; text-align: left; vertical-align: top; white-space: nowrap; }
th { color: var(--soft); font-weight: 500; border-bottom: 1px solid var(--line); }
td { border-bottom: 1px solid color-mix(in srgb, var(--line) 50%, transparent); }
.right { text-align: right; }
summary { cursor: pointer; color: var(--soft); font-size: 14px; }
.sample { white-space: pre-wrap; min-width: 220px; max-width: 480px; overflow-wrap: anywhere; }
.wrap { white-space: normal; min-width: 220px; overflow-wrap: anywhere; }
figure { margin: 12px 0 20px; }
figure svg { display: block; width: 100%; height: auto; overflow: visible; }
@media (max-width: 600px) { figure svg[width='860'] { width: 640px; max-width: none; } }
.small { display: grid; grid-template-columns: repeat(auto-fill, minmax(320px, 1fr)); gap: 4px 24px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 4px 0; padding: 0; list-style: none; font-size: 13px; }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
[data-run] { cursor: pointer; }
svg path[data-run] { pointer-events: stroke; }
svg.pointed [data-run] { opacity: 0.18; }
svg.pointed [data-run].on { opacity: 1; stroke-opacity: 1; fill-opacity: 1; stroke-width: 2.6; }
tr[data-run].on td { background: var(--shade); }
tr[data-run]:focus { outline: 2px solid var(--accent); outline-offset: -2px; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid var(--accent); }
th[aria-sort='ascending'] button::after { content: ' ↑'; }
th[aria-sort='descending'] button::after { content: ' ↓'; }
input[type='search'] { width: 100%; max-width: 420px; padding: 6px 10px; font: inherit; color: inherit; background: var(--shade); border: 1px solid var(--line); border-radius: 6px; }
#card { position: fixed; right: 16px; bottom: 16px; width: min(460px, calc(100vw - 32px)); max-height: 46vh; overflow: auto; padding: 12px 16px; background: var(--paper); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 6px 24px rgb(0 0 0 / 0.18); font-size: 14px; }
#card[hidden] { display: none; }
#card h3 { margin: 0 0 4px; overflow-wrap: anywhere; }
#card dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 12px; margin: 6px 0; }
#card dt { color: var(--soft); }
#card dd { margin: 0; overflow-wrap: anywhere; }
.bad { color: var(--bad); }
.best { font-weight: 600; }
figure.set { padding: 4px 0; }
figure.set:focus-visible { outline: 2px solid var(--accent); outline-offset: 4px; }
.set h4 { margin: 8px 0 0; font-size: 14px; font-weight: 500; }
.set .wide { grid-column: 1 / -1; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin: 6px 0; font-size: 14px; font-variant-numeric: tabular-nums; }
.controls input { flex: 1; min-width: 160px; max-width: 460px; accent-color: var(--accent); }
.controls button, .controls select { min-width: 34px; padding: 3px 9px; font: inherit; color: inherit; background: var(--shade); border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
.controls :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
@media (prefers-reduced-motion: no-preference) { .set rect { transition: y 0.15s linear, height 0.15s linear; } }
@media print { :root { --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --shade: #fff; } main { max-width: none; padding: 0; } #card, input, .controls { display: none; } figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } .scroll { overflow: visible; } .scroll > svg { max-height: 68mm; } table { font-size: 10px; } td, th { white-space: normal; padding-right: 7px; } .right { white-space: nowrap; } .wrap { min-width: 0; } p, figcaption, .note { orphans: 3; widows: 3; } }
`;
