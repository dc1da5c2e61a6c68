import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '../../src/base/outcome.js';
import { writeRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { pageHtml } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import type { Objective } from '../../src/spec/planned-run.js';

/** A run of a sweep as its files tell of it. */
export type Facts = {
  name: string;
  group?: string;
  parameters?: Record<string, string | number>;
  /** Texts as they are: JSON has no infinity. */
  rows?: (object | string)[];
  outcome?: Outcome;
  argv?: string[];
};

/** Writes a finished sweep. @param text Of its file. @returns the directory. */
export function sweepIn(sweep: string, runs: readonly Facts[], text = ''): string {
  mkdirSync(sweep);
  writeFileSync(join(sweep, 'sweep.yaml'), text);
  for (const run of runs) writeRun(sweep, run);
  return sweep;
}

function writeRun(
  sweep: string,
  { name, group = 'main', parameters = {}, rows = [], outcome = { kind: 'done' }, argv = ['true'] }: Facts,
): void {
  const directory = join(sweep, name);
  writeRunRecord(directory, {
    ...{ version: 1, sweep: 's', group, subgroup: null, name, identity: name, parameters, argv },
    ...{ cwd: '/', host: 'here', git: { commit: 'c0ffee1234567890', dirty: true } },
    attempts: [{ number: 1, slot: 'cpu 0', startedAt: 1_700_000_000_000, endedAt: 1_700_000_090_000, outcome }],
  });
  writeFileSync(
    join(directory, 'metrics.jsonl'),
    rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''),
  );
}

/** The page of its report. */
export async function pageOf(sweep: string, objective: Objective | null = null): Promise<string> {
  const data = await readPageData(sweep, { objective });
  return pageHtml(data, { command: 'memrl-tui report s --html s.html', spread: 'std', now: 1_700_000_100_000 });
}
