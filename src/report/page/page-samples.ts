import type { ReportedRun } from '../../analysis/analysed-run.js';
import { readSamples, type Sample, samplesAt, stepsOf } from '../../logs/samples.js';
import { terminalText } from '../../text/display-text.js';
import { NOTHING, shortNumber } from '../../text/numbers.js';
import { html, type Markup, tableOf } from './markup.js';

/** The samples of a run's last step: the best and the worst of them. */
export type RunSamples = { readonly run: string; readonly step: number | null; readonly shown: readonly Sample[] };

/** Limits of a page: runs that are looked at, and shown; samples from either end of a run; characters of a text. */
const MOST_LOOKED_AT = 48;
const MOST_RUNS = 12;
const FROM_EACH_END = 4;
const LONGEST = 2000;

/** Reads what the models of the first runs that have samples wrote at the end. */
export async function readPageSamples(runs: readonly ReportedRun[]): Promise<RunSamples[]> {
  const found: RunSamples[] = [];
  for (const { name, directory } of runs.slice(0, MOST_LOOKED_AT)) {
    if (found.length === MOST_RUNS) break;
    const samples = await readSamples(directory);
    const step = stepsOf(samples).at(-1) ?? null;
    const inOrder = samplesAt(samples, { step, order: 'best first', pattern: null });
    const ends = [...inOrder.slice(0, FROM_EACH_END), ...inOrder.slice(FROM_EACH_END).slice(-FROM_EACH_END)];
    if (ends.length > 0) found.push({ run: name, step, shown: ends });
  }
  return found;
}

export function samplesMarkup(samples: readonly RunSamples[]): Markup | null {
  if (samples.length === 0) return null;
  return html`<section>
    <h2>Samples</h2>
    <p class="note">The last step of each run: the best and the worst by reward.</p>
    ${samples.map(runMarkup)}
  </section>`;
}

function runMarkup({ run, step, shown }: RunSamples): Markup {
  const head = ['reward', 'length', 'prompt', 'completion'].map((title) => html`<th scope="col">${title}</th>`);
  const rows = shown.map(({ reward, length, prompt, completion }) => {
    const number = reward === null ? NOTHING : shortNumber(reward);
    return html`<tr>
      <td class="right">${number}</td>
      <td class="right">${length}</td>
      <td class="sample">${text(prompt)}</td>
      <td class="sample">${text(completion)}</td>
    </tr>`;
  });
  return html`<details>
    <summary>${run}${step === null ? '' : `, step ${step}`}</summary>
    ${tableOf(head, rows)}
  </details>`;
}

function text(written: string): string {
  const clean = terminalText(written);
  return clean.length <= LONGEST ? clean : `${clean.slice(0, LONGEST)}…`;
}
