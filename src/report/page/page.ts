import { isSystemMetric } from '../../contract/metric-names.js';
import type { StudyFigure } from '../../contract/study.js';
import { durationText } from '../../text/duration.js';
import type { Column } from '../../text/table.js';
import { distinct, fileName } from '../file-names.js';
import { bestSign, metricColumns } from '../metric-columns.js';
import { countsText, reportNotes, titleOf } from '../report-tables.js';
import type { Section } from '../report.js';
import type { Spread } from '../spread.js';
import type { FoundStudy } from '../studies/found-studies.js';
import {
  namedUnit,
  studiesByPlace,
  studyColumns,
  studyTitle,
  verdictText,
  warningTexts,
} from '../studies/study-tables.js';
import { curveFigure, type Figure } from './curve-figures.js';
import { escaped, html, Markup, tableOf } from './markup.js';
import type { Origin, PageData, PageGroup } from './page-data.js';
import { bestMarkup, cardOf, failuresMarkup, runsMarkup, troubleMarkup } from './page-runs.js';
import { samplesMarkup } from './page-samples.js';
import { parameterFigures } from './parameter-figures.js';
import { sliderMarkup, sliderScript } from './slider.js';
import { drawnSet, figureSets } from './study-figures.js';

/** How a page is made. `command`: the command line; `now`: Unix ms. */
type Making = { readonly command: string; readonly spread: Spread; readonly now: number };

/** A report as one HTML file that needs no network: tables, figures, every run. */
export function pageHtml(data: PageData, making: Making): string {
  const { report, runs } = data;
  const cards = JSON.stringify(runs.map(cardOf));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
        />
        <title>${report.sweep}</title>
        <style>
          ${new Markup(pageStyle)}
        </style>
      </head>
      <body>
        <main>${mainMarkup(data, making)}</main>
        <aside id="card" aria-live="polite" hidden></aside>
        <script type="application/json" id="runs-data">
          ${new Markup(scriptSafe(cards))}
        </script>
        <script>
          ${new Markup(pageScript)};
          ${report.studies.some(hasPlaces) ? new Markup(sliderScript) : null};
        </script>
      </body>
    </html> `;
  return page.text;
}

function mainMarkup(data: PageData, { command, spread, now }: Making): Markup {
  const { report, runs, groups, ranking, rankedGroup, origin } = data;
  const { ofSweep, ofRuns } = studiesByPlace(report);
  return html`<p class="soft">memrl-tui report</p>
    <h1>${report.sweep}</h1>
    <p>${countsText(report)}</p>
    ${originMarkup(origin)} ${troubleMarkup(runs)} ${ofSweep.map(studyMarkup)}
    ${report.sections.map((section, index) => (isEmpty(section, data) ? null : groupMarkup(section, groups[index]!, spread)))}
    ${ofRuns.map(studyMarkup)} ${notesMarkup(reportNotes(report, spread))} ${parametersMarkup(parameterFigures(data))}
    ${ranking === null ? null : bestMarkup(runs, rankedGroup!, ranking)} ${failuresMarkup(runs)}
    ${samplesMarkup(data.samples)} ${runsMarkup(data)}
    <p class="soft">Made ${timeText(now)} by <code>${command}</code></p>`;
}

/** The figures of a page with names for files: `main-loss`; `main-loss-2` if that is taken. */
export function pageFigures(data: PageData): { name: string; svg: string }[] {
  const { report, groups } = data;
  const named = (group: string, figure: Figure) => ({
    name: fileName(`${group}-${figure.title}`),
    svg: standalone(figure),
  });
  return distinct([
    ...report.sections.flatMap((section, index) =>
      figuresOf(groups[index]!).map((figure) => named(section.group, figure)),
    ),
    ...report.studies.flatMap(({ run, figures }) =>
      figureSets(figures).flatMap((set) =>
        drawnSet(set).figures.map((figure) => named([run ?? 'study', set[0]!.set ?? ''].join(' ').trim(), figure)),
      ),
    ),
    ...parameterFigures(data).map((figure) => named('parameters', figure)),
  ]);
}

function figuresOf(group: PageGroup): Figure[] {
  return group.figures.filter(({ curves }) => curves.length > 0).map((figure) => curveFigure(group, figure));
}

/**
 * Whether all runs of a section are done and measured nothing, such as runs that prepare data; the table of all runs lists them.
 */
function isEmpty(section: Section, { runs }: PageData): boolean {
  const isDone = runs.every(({ group, state }) => group !== section.group || state === 'done');
  return section.keys.length === 0 && isDone;
}

function groupMarkup(section: Section, group: PageGroup, spread: Spread): Markup {
  const figures = figuresOf(group);
  const resources = figures.filter(({ title }) => isSystemMetric(title));
  return html`<section>
    <h2>${titleOf(section)}</h2>
    ${answerMarkup(section)} ${tableMarkup(metricColumns(section, spread))} ${smallMarkup(figures)}
    ${figures.filter(({ title, isSmall }) => !isSystemMetric(title) && isSmall !== true).map(figureMarkup)}
    ${resourcesMarkup(resources)}
  </section>`;
}

/** What a program has to say beyond metrics. */
function studyMarkup(study: FoundStudy): Markup {
  const { tables, figures, notes, verdicts } = study;
  return html`<section>
    <h2>${studyTitle(study)}</h2>
    ${verdicts.map((verdict) => html`<p>${verdictText(verdict)}</p>`)} ${tables.map(studyTableMarkup)}
    ${figureSets(figures).map(setMarkup)} ${notesMarkup([...notes, ...warningTexts(study)])}
    <p class="soft"><code>${study.file}</code></p>
  </section>`;
}

function studyTableMarkup(table: FoundStudy['tables'][number]): Markup {
  return html`${table.title === null ? null : html`<h3>${table.title}</h3>`} ${tableMarkup(studyColumns(table))}
  ${table.notes.map((note) => html`<p class="note">${note}</p>`)}`;
}

function hasPlaces({ figures }: FoundStudy): boolean {
  return figures.some(({ bars }) => bars.some(({ at }) => at !== null));
}

/** Figures of a study that stand side by side, with one legend and one slider; most stand alone. */
function setMarkup(set: readonly StudyFigure[]): Markup {
  const [{ set: title, slider }] = set as [StudyFigure];
  const drawn = drawnSet(set);
  const hasSlider = drawn.places.length > 1;
  if (title === null && !hasSlider && drawn.figures[0]!.isSmall !== true) return figureMarkup(drawn.figures[0]!);
  const focus = hasSlider ? html` tabindex="0"` : null;
  return html`<figure class="set" ${focus} role="group" aria-label="${title ?? drawn.figures[0]!.title}">
    ${title === null ? null : html`<h3>${title}</h3>`} ${legendMarkup(drawn.legend)}
    ${hasSlider ? sliderMarkup(namedUnit(slider), drawn) : null}
    <div class="small">${drawn.figures.map(panelMarkup)}</div>
    ${drawn.notes.length === 0 ? null : html`<figcaption>${drawn.notes.join(' ')}</figcaption>`}
  </figure>`;
}

function panelMarkup({ title, svg, isSmall }: Figure): Markup {
  return html`<div ${isSmall === true ? null : html`class="wide"`}>
    <h4>${title}</h4>
    ${new Markup(svg)}
  </div>`;
}

/** Which setting is best, in sentences. */
function answerMarkup(section: Section): Markup | null {
  if (section.answer.length === 0) return null;
  return html`<p><strong>${section.answer[0]!}</strong> ${section.answer.slice(1).join(' ')}</p>`;
}

/** Figures that are side by side. */
function smallMarkup(figures: readonly Figure[]): Markup | null {
  const small = figures.filter(({ isSmall }) => isSmall === true);
  return small.length === 0 ? null : html`<div class="small">${small.map(figureMarkup)}</div>`;
}

/** What the runs used of the machine, which is not at the top of a page. */
function resourcesMarkup(figures: readonly Figure[]): Markup | null {
  if (figures.length === 0) return null;
  return html`<details>
    <summary>Resources</summary>
    ${figures.map(figureMarkup)}
  </details>`;
}

function figureMarkup({ title, svg, legend, note }: Figure): Markup {
  return html`<figure>
    <h3>${title}</h3>
    ${legendMarkup(legend)}
    <div class="scroll">${new Markup(svg)}</div>
    ${note === '' ? null : html`<figcaption>${note}</figcaption>`}
  </figure>`;
}

function legendMarkup(legend: Figure['legend']): Markup | null {
  if (legend.length === 0) return null;
  const entries = legend.map(({ colour, text }) => html`<li><i style="background:${colour}"></i>${text}</li>`);
  return html`<ul class="legend">
    ${entries}
  </ul>`;
}

/** The first and the last figure are wide; the others are side by side. */
function parametersMarkup(figures: readonly Figure[]): Markup | null {
  const [first, last] = figures.filter(({ isSmall }) => isSmall !== true);
  if (first === undefined) return null;
  return html`<section>
    <h2>Parameters</h2>
    ${figureMarkup(first)} ${smallMarkup(figures)} ${last === undefined ? null : figureMarkup(last)}
  </section>`;
}

/** A table of the report. */
function tableMarkup(columns: readonly Column[]): Markup {
  const shown = columns.filter(({ title, cells }) => title !== '' || cells.some((cell) => cell !== ''));
  const count = Math.max(0, ...shown.map(({ cells }) => cells.length));
  const head = shown.map(({ title, align }) => html`<th class="${align}" scope="col">${title}</th>`);
  const rows = Array.from({ length: count }, (_, row) => {
    const cells = shown.map(({ align, cells: all }) => {
      const text = all[row] ?? '';
      return html`<td class="${align}${text.startsWith(bestSign) ? ' best' : ''}">${text}</td>`;
    });
    return html`<tr>
      ${cells}
    </tr>`;
  });
  const table = tableOf(head, rows);
  if (count <= LONG) return table;
  return html`<details>
    <summary>${count} rows</summary>
    ${table}
  </details>`;
}

/** Number of rows from which on a table is not at the top of a page. */
const LONG = 40;

function notesMarkup(notes: readonly string[]): Markup | null {
  return notes.length === 0 ? null : html`<div class="note">${notes.map((note) => html`<p>${note}</p>`)}</div>`;
}

function originMarkup({ hosts, machine, commits, isDirty, firstStart, lastEnd, busySeconds }: Origin): Markup | null {
  if (firstStart === null) return null;
  const facts = [
    `${timeText(firstStart)}${lastEnd === null ? '' : ` to ${timeText(lastEnd)}`}`,
    `${durationText(Math.round(busySeconds))} of runs together`,
    hosts.join(', '),
    ...(machine === null ? [] : [machineText(machine)]),
    ...(commits.length === 0
      ? []
      : [`commit ${commits.map((commit) => commit.slice(0, 12)).join(', ')}${isDirty ? ' with changes' : ''}`]),
  ];
  return html`<p class="soft">${facts.join(' · ')}</p>`;
}

function machineText({ cpu, cores, gpus, memrlTui }: NonNullable<Origin['machine']>): string {
  return [`${cores} × ${cpu}`, ...gpus, `memrl-tui ${memrlTui}`].join(' · ');
}

/** `2026-11-22 14:03 UTC`. */
function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** JSON that is safe inside a script element. */
function scriptSafe(json: string): string {
  return json.replace(/</g, '\\u003c');
}

/** The style of the page for light and dark screens, narrow ones, and print. */
const pageStyle = `
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

/**
 * The page's script. Pointing at a run in a figure or the table highlights it everywhere and shows a card. By keyboard: Tab or the
 * arrows move through the rows of the table; Enter pins a run, Escape releases it. Rows are sorted by column and filtered by the
 * typed text. Without the script the page is complete but for this.
 */
const pageScript = `
(() => {
  const runs = JSON.parse(document.getElementById('runs-data').textContent);
  const card = document.getElementById('card');
  let pinned = null;
  const show = (run) => {
    for (const mark of document.querySelectorAll('.on')) mark.classList.remove('on');
    for (const figure of document.querySelectorAll('svg.pointed')) figure.classList.remove('pointed');
    card.hidden = run === null;
    if (run === null) return;
    for (const mark of document.querySelectorAll('[data-run="' + run + '"]')) {
      mark.classList.add('on');
      const figure = mark.closest('svg');
      if (figure) { figure.classList.add('pointed'); if (mark.parentNode.lastChild !== mark) mark.parentNode.append(mark); }
    }
    const { name, facts, parameters, command } = runs[run];
    card.replaceChildren();
    const add = (parent, tag, text) => { const made = document.createElement(tag); made.textContent = text; parent.append(made); return made; };
    add(card, 'h3', name);
    add(card, 'div', facts).className = 'soft';
    const list = add(card, 'dl', '');
    for (const [key, value] of parameters) { add(list, 'dt', key); add(list, 'dd', value); }
    if (command !== null) add(add(card, 'div', ''), 'code', command);
  };
  const runOf = (event) => { const mark = event.target.closest?.('[data-run]'); return mark ? mark.dataset.run : null; };
  document.addEventListener('mouseover', (event) => { if (pinned === null) show(runOf(event)); });
  document.addEventListener('focusin', (event) => { if (pinned === null && runOf(event) !== null) show(runOf(event)); });
  document.addEventListener('click', (event) => {
    const run = runOf(event);
    if (run === null && event.target.closest('#card, input, button, a')) return;
    pinned = run === pinned ? null : run;
    show(run);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') { pinned = null; show(null); }
    const rowBeside = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
    if (rowBeside && event.target.matches('tr[tabindex]')) {
      let row = event.target[rowBeside];
      while (row && row.hidden) row = row[rowBeside];
      if (row) { row.focus(); event.preventDefault(); }
    }
    if (event.key === 'Enter' && runOf(event) !== null) { pinned = runOf(event); show(pinned); }
  });
  const table = document.getElementById('runs-table');
  if (!table) return;
  const body = table.tBodies[0];
  const search = document.getElementById('search');
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
    for (const row of body.rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
  const valueOf = (row, column) => { const cell = row.cells[column]; return cell.dataset.value ?? cell.textContent; };
  table.tHead.addEventListener('click', (event) => {
    const head = event.target.closest('th');
    if (!head) return;
    const way = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', way === 1 ? 'ascending' : 'descending');
    const column = head.cellIndex;
    const order = (a, b) => {
      const [one, two] = [valueOf(a, column), valueOf(b, column)];
      if (one === '' || two === '') return Number(one === '') - Number(two === '');
      const difference = Number(one) - Number(two);
      return way * (Number.isNaN(difference) ? one.localeCompare(two, undefined, { numeric: true }) : difference);
    };
    body.append(...[...body.rows].sort(order));
  });
})();
`;

/** Height and left edge of an entry in the legend, CSS pixels. */
const LINE = 18;
const LEFT = 64;

/**
 * A figure as an SVG file, on white, with its legend below. Readers of files are stricter than browsers: no attribute may occur
 * twice.
 */
export function standalone({ svg, legend }: Pick<Figure, 'svg' | 'legend'>): string {
  const [head] = /^<svg [^>]*>/.exec(svg) ?? [''];
  const [, width = '0', height = '0'] = / viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(head) ?? [];
  const room = legend.length === 0 ? 0 : LINE * legend.length + LINE / 2;
  const whole = Number(height) + room;
  const bare = head.replace(/ (?:xmlns|color|style|viewBox|height)="[^"]*"/g, '');
  const paper = `xmlns="http://www.w3.org/2000/svg" color="#1b1f24" style="font-size:12px" viewBox="0 0 ${width} ${whole}" height="${whole}"`;
  const entries = legend.map(({ colour, text }, index) => {
    const y = Number(height) + LINE * (index + 0.5);
    const stroke = `<path d="M${LEFT},${y}h20" stroke="${colour}" stroke-width="3"/>`;
    return `${stroke}<text x="${LEFT + 28}" y="${y + 4}" text-anchor="start">${escaped(text)}</text>`;
  });
  const end = svg.lastIndexOf('</svg>');
  return [
    bare.replace('<svg ', () => `<svg ${paper} `),
    '<rect width="100%" height="100%" fill="#fff"/>',
    svg.slice(head.length, end),
    ...entries,
    svg.slice(end),
  ].join('');
}
