import { healthWord } from '../../analysis/health/finding.js';
import { causeText, failureKinds, kindOfError } from '../../analysis/failures/failure-kinds.js';
import { durationText } from '../../text/duration.js';
import { shortNumber } from '../../text/numbers.js';
import { parametersText } from '../../text/parameters-text.js';
import { html, type Markup, tableOf } from './markup.js';
import type { PageData, PageRun, Ranking } from './page-data.js';

/** Number of rows in the table of the best runs. */
const BEST = 10;

/** The runs of a group with the best results; null: the goal is unknown. */
export function bestMarkup(runs: readonly PageRun[], group: string, { metric, goal }: Ranking): Markup | null {
  if (goal === null) return null;
  const way = goal === 'minimize' ? 1 : -1;
  const best = runs
    .map((run, index) => ({ ...run, index }))
    .filter(({ group: own, value }) => own === group && value !== null && Number.isFinite(value))
    .sort((a, b) => way * (a.value! - b.value!))
    .slice(0, BEST);
  if (best.length === 0) return null;
  const rows = best.map(
    ({ index, name, value, parameters }) =>
      html`<tr data-run="${index}">
        <td class="right">${shortNumber(value, 4)}</td>
        <td>${name}</td>
        <td class="wrap">${parametersText(parameters)}</td>
      </tr>`,
  );
  return html`<section>
    <h2>Best runs</h2>
    <p class="soft">
      By ${metric}, ${goal === 'minimize' ? 'the lowest' : 'the highest'} first. The best of many runs is partly luck:
      the seeds of its setting tell more.
    </p>
    ${tableOf([metric, 'run', 'parameters'].map(headMarkup), rows)}
  </section>`;
}

/** The failures: each kind with its count and the parameters behind it, the most frequent first; null: there are none. */
export function troubleMarkup(runs: readonly PageRun[]): Markup | null {
  const kinds = failureKinds(runs.map((run, index) => ({ ...run, index, trouble: kindOf(run), error: run.failure })));
  if (kinds.length === 0) return null;
  const rows = kinds.map(({ words, runs: own, found }) => {
    const { name, index } = own[0]!;
    return html`<tr data-run="${index}">
      <td class="right bad">${own.length}</td>
      <td class="wrap"><code>${words}</code></td>
      <td class="wrap">${causeText(found) ?? '–'}</td>
      <td>${name}</td>
    </tr>`;
  });
  return html`<section>
    <h2>What went wrong</h2>
    ${tableOf(['runs', 'kind', 'mostly with', 'for example'].map(headMarkup), rows)}
  </section>`;
}

/** The error with its numbers and paths masked, or else the mark; null: there is neither. */
function kindOf({ failure, mark }: PageRun): string | null {
  if (failure !== null) return kindOfError(failure);
  return mark === null ? null : healthWord(mark.word);
}

/** Runs that did not end well, with the reasons; null: there are none. */
export function failuresMarkup(runs: readonly PageRun[]): Markup | null {
  const failed = runs.map((run, index) => ({ ...run, index })).filter(({ failure }) => failure !== null);
  if (failed.length === 0) return null;
  const rows = failed.map(
    ({ index, name, state, failure, attempts }) =>
      html`<tr data-run="${index}">
        <td>${name}</td>
        <td class="bad">${state}</td>
        <td class="right">${attempts}</td>
        <td class="wrap"><code>${failure}</code></td>
      </tr>`,
  );
  return html`<section>
    <h2>Failed runs</h2>
    ${tableOf(['run', 'state', 'attempts', 'why'].map(headMarkup), rows)}
  </section>`;
}

/** The table of all runs, which the page's script sorts and filters. */
export function runsMarkup({ runs }: PageData): Markup {
  const head = ['run', 'group', 'state', 'result', 'time', 'parameters'].map(
    (text) => html`<th scope="col"><button type="button">${text}</button></th>`,
  );
  const rows = runs.map(
    (run, index) =>
      html`<tr data-run="${index}" tabindex="0">
        <td>${run.name}</td>
        <td>${run.group}</td>
        <td class="${run.mark === null ? '' : 'bad'}">${stateText(run)}</td>
        <td class="right" data-value="${run.value === null || Number.isNaN(run.value) ? '' : run.value}">
          ${resultText(run)}
        </td>
        <td class="right" data-value="${run.seconds ?? ''}">
          ${run.seconds === null ? '' : durationText(Math.round(run.seconds))}
        </td>
        <td class="wrap">${parametersText(run.parameters)}</td>
      </tr>`,
  );
  return html`<section>
    <h2>All runs</h2>
    <p><input id="search" type="search" placeholder="Filter: words of a row" aria-label="Filter the runs" /></p>
    ${tableOf(head, rows, 'runs-table')}
  </section>`;
}

function headMarkup(text: string): Markup {
  return html`<th scope="col">${text}</th>`;
}

/** State and mark of a run: `done, diverged`. */
function stateText({ state, mark }: PageRun): string {
  return mark === null ? state : `${state}, ${healthWord(mark.word)}`;
}

/** The result of a run: `loss 0.2264`. */
function resultText({ metric, value }: PageRun): string {
  return value === null ? '' : `${metric} ${shortNumber(value, 4)}`;
}

/** The content of the card that is shown beside the pointer. */
export function cardOf(run: PageRun): object {
  const facts = [
    run.group,
    run.mark === null ? run.state : `${stateText(run)} (${run.mark.reason})`,
    ...(run.value === null ? [] : [resultText(run)]),
    ...(run.seconds === null ? [] : [durationText(Math.round(run.seconds))]),
    ...(run.failure === null ? [] : [run.failure]),
  ];
  const parameters = Object.entries(run.parameters).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return { name: run.name, facts: facts.join(' · '), parameters, command: run.command };
}
