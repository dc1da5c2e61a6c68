import type { StudyFigure } from '../../contract/study.js';
import { durationText } from '../../text/duration.js';
import { isSystemMetric } from '../../contract/metric-names.js';
import type { Column } from '../../text/table.js';
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
import { html, Markup, tableOf } from './markup.js';
import { distinct, fileName } from '../file-names.js';
import { standalone } from './standalone.js';
import type { Origin, PageData, PageGroup } from './page-data.js';
import { bestMarkup, cardOf, failuresMarkup, runsMarkup, troubleMarkup } from './page-runs.js';
import { samplesMarkup } from './page-samples.js';
import { pageScript } from './page-script.js';
import { pageStyle } from './page-style.js';
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
