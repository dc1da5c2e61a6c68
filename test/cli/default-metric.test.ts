import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportLines } from '../../src/cli/export/export-lines.js';
import { runTable } from '../../src/cli/show/run-table.js';
import { safeLine } from '../../src/cli/terminal.js';
import { writeRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { buildReport } from '../../src/report/build-report.js';
import { ListModelBuilder } from '../../src/tui/model/list-model.js';
import { initialUi } from '../../src/tui/state/ui-state.js';
import { aRun, aSweep, SimulatedFleet } from '../tui/simulated-fleet.js';
import { removeFolder } from '../remove-folder.js';

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'memrl-default-metric-'))));
afterEach(() => removeFolder(directory));

type Case = { show: string[]; x: string; row: Record<string, number>; judgedBy?: string };

/** What each of them shows of a sweep of one run that wrote one row, and of which the file says what to show. */
const shownBy: Readonly<Record<string, (sweep: Case) => string | Promise<string>>> = {
  'the window': ({ show, x, row, judgedBy }) => {
    const fleet = new SimulatedFleet([aSweep({ show, x, ...judges(judgedBy) })], [aRun('A_s0', { metrics: row })]);
    return new ListModelBuilder(fleet, null).listModel(initialUi, 0).metric ?? 'none';
  },
  ls: ({ show, x, row, judgedBy }) => {
    const options = {
      sweeps: new Map([['abcd', aSweep({ show, x, ...judges(judgedBy) })]]),
      width: 200,
      now: 0,
      colour: false,
    };
    const [titles] = runTable([aRun('A_s0', { metrics: row, reason: 'why' })], options);
    return safeLine(titles!).trim().split(/\s+/).at(-2)!;
  },
  'the report': async (sweep) => {
    writeSweep(sweep);
    const [section] = (await buildReport(directory)).sections;
    return (section?.kind === 'metrics' ? section.keys[0] : undefined) ?? 'none';
  },
  'the export': (sweep) => {
    writeSweep(sweep);
    const [titles] = exportLines({ name: 's', directory }, 'csv', { kind: 'last' });
    const columns = titles!.split(',');
    return columns[columns.indexOf('note') + 1]!;
  },
};

function judges(name: string | undefined): { judgedBy?: string[] } {
  return name === undefined ? {} : { judgedBy: [name] };
}

function writeSweep({ show, x, row, judgedBy }: Case): void {
  const stop = judgedBy === undefined ? {} : { stop_when: `${judgedBy} > 2` };
  writeFileSync(join(directory, 'sweep.yaml'), JSON.stringify({ metrics: { show, x }, ...stop }));
  writeRunRecord(join(directory, 'A_s0'), {
    ...{ version: 1, sweep: 's', group: 'A', subgroup: null, name: 'A_s0', identity: 'A_s0', parameters: {} },
    ...{ argv: ['true'], cwd: '/', host: 'here', git: null, attempts: [] },
  });
  writeFileSync(join(directory, 'A_s0', 'metrics.jsonl'), `${JSON.stringify(row)}\n`);
}

describe.each(Object.entries(shownBy))('what %s shows first of the metrics', (_who, shown) => {
  it.each<Case & { what: string; key: string }>([
    { what: 'what the sweep file has first', show: ['b', 'a'], x: 'step', row: { step: 1, a: 1, b: 2 }, key: 'b' },
    {
      what: 'a result, not the first that was written',
      show: [],
      x: 'step',
      row: { step: 1, lr: 1, loss: 2 },
      key: 'loss',
    },
    { what: 'no axis of the charts', show: [], x: 'tokens', row: { tokens: 1, kl: 1 }, key: 'kl' },
    {
      what: 'what the sweep judges its runs by',
      show: [],
      x: 'step',
      row: { step: 1, loss: 1, 'eval/kl': 2 },
      judgedBy: 'eval_kl',
      key: 'eval/kl',
    },
    { what: 'no step', show: [], x: 'step', row: { step: 1, 'train/loss': 2 }, key: 'train/loss' },
  ])('is $what', async ({ key, ...sweep }) => {
    expect(await shown(sweep)).toBe(key);
  });
});
