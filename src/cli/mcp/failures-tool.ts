import * as z from 'zod';
import type { Answers } from '../answers/schemas.js';
import { jsonAnswer, jsonIn, textOf } from './answer.js';
import { runsChosen } from './chosen-rows.js';
import type { RunCommand } from './command.js';
import { MOST_BYTES } from './fitted.js';
import { briefRows, type RunRow } from './run-rows.js';
import { inputOf, type Tool } from './verb-tool.js';

/** Runs whose logs are shown, at most. */
const MOST_LOGS = 8;
const USUAL_LINES = 20;

/** Which runs have failed and why, with the ends of their logs: one of each reason first. */
export const failuresTool: Tool = {
  name: 'failures',
  about: `Runs that failed or were lost: the kinds of failure with the parameter that goes with each, the reason of each run, and the last lines of the logs of up to ${MOST_LOGS}, one of each reason first.`,
  input: inputOf({ name: 'failures', takes: '[query...]', options: [] }, []).extend({
    lines: z.int().positive().optional().describe(`lines of each log (default: ${USUAL_LINES})`),
  }),
  acts: null,
  call: async (given, run) => {
    const { rows, notes } = await runsChosen(given, run);
    const failed = oneOfEachFirst(rows.filter(({ state }) => state === 'failed' || state === 'lost'));
    const head = { matched: rows.length, failed: failed.length };
    if (failed.length === 0) return jsonAnswer(head, notes, () => '');
    const { lines = USUAL_LINES } = given as { lines?: number };
    const logs = await Promise.all(failed.slice(0, MOST_LOGS).map((row) => endOfLog(row, lines, run)));
    const { runs, ...common } = briefRows(failed, null);
    const withLogs = runs.map((row, index) => (index < logs.length ? { ...row, log: logs[index] } : row));
    return jsonAnswer(
      { ...head, kinds: await kindsIn(failed, run), ...common, runs: withLogs },
      notes,
      () => 'Narrow the query, ask for fewer lines, or read the `logs` of one run.',
    );
  },
};

/** The first run of each reason, then the others. */
function oneOfEachFirst(rows: readonly RunRow[]): RunRow[] {
  const firsts = [...new Map([...rows].reverse().map((row) => [row.reason, row])).values()].reverse();
  return [...firsts, ...rows.filter((row) => !firsts.includes(row))];
}

/** Text of the last lines, shortened at its beginning so that those of all runs fit. */
async function endOfLog({ sweep, name }: RunRow, lines: number, run: RunCommand): Promise<string> {
  const text = textOf(await run(['logs', `--lines=${lines}`, '--', `${sweep}/${name}`])).trimEnd();
  const most = Math.floor(MOST_BYTES / (2 * MOST_LOGS));
  return text.length > most ? `…${text.slice(-most)}` : text;
}

/** The kinds of failure in the sweeps of these runs, as `status` tells them. */
async function kindsIn(rows: readonly RunRow[], run: RunCommand): Promise<object[]> {
  const sweeps = new Set(rows.map(({ sweep }) => sweep));
  const { value } = jsonIn(await run(['status', '--json']));
  return (value as Answers['status'])
    .filter(({ sweep }) => sweeps.has(sweep))
    .flatMap(({ sweep, failures }) => failures.map((kind) => ({ sweep, ...kind })));
}
