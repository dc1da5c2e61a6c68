import type { Answers } from '../answers/schemas.js';
import { jsonIn, Refused } from './answer.js';
import type { Printed, RunCommand } from './command.js';
import type { RunRow } from './run-rows.js';
import type { Given } from './verb-tool.js';

/** Runs that a query selects, and the remarks of `ls`. */
type ChosenRows = { readonly rows: RunRow[]; readonly notes: readonly string[] };

/** The runs that a query selects. @throws {Refused} When it selects none. */
export async function runsChosen(given: Given, run: RunCommand): Promise<ChosenRows> {
  return chosenIn(await run(['ls', '--json', '--', ...[given['query'] ?? []].flat().map(String)]), given);
}

/** The same from what `ls --json` printed. @throws {Refused} */
export function chosenIn(printed: Printed, given: Given): ChosenRows {
  const { value, notes } = jsonIn(printed);
  const rows = [...(value as Answers['ls'])];
  if (rows.length > 0) return { rows, notes };
  const { query } = given as { query?: string };
  throw new Refused({
    code: 'no-such-run',
    message: query === undefined ? 'There are no runs here.' : `No run matches \`${query}\`.`,
    fix: query === undefined ? 'Launch a sweep.' : 'Without a query `ls` lists them all; `status` has the sweeps.',
  });
}
