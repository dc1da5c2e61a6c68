import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type StoredRun = {
  readonly record: { readonly name: string };
  readonly config: Readonly<Record<string, unknown>>;
  readonly metrics: { readonly keys: readonly string[]; readonly rows: readonly (readonly unknown[])[] };
};

/** Where the runs of `sweeps/abcd.yaml` lie, thinned to some 24 rows each, and what the manager reported of them before there were studies. */
const fixture = 'test/fixtures/answer';

/** Lays out the stored sweep in a folder. @param wanted Which runs; all by default. @returns its directory. */
export function storedSweep(root: string, wanted: (name: string) => boolean = () => true): string {
  const sweep = join(root, 'abcd');
  const { runs } = JSON.parse(readFileSync(join(fixture, 'runs.json'), 'utf8')) as { runs: StoredRun[] };
  mkdirSync(sweep);
  copyFileSync(join(fixture, 'sweep.yaml'), join(sweep, 'sweep.yaml'));
  for (const { record, config, metrics } of runs.filter((run) => wanted(run.record.name))) {
    const place = join(sweep, record.name);
    const rows = metrics.rows.map((row) =>
      Object.fromEntries(metrics.keys.flatMap((key, at) => (row[at] === '' ? [] : [[key, row[at]]]))),
    );
    mkdirSync(place);
    writeFileSync(join(place, 'run.json'), JSON.stringify(record));
    writeFileSync(join(place, 'config.json'), JSON.stringify(config));
    writeFileSync(join(place, 'metrics.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  return sweep;
}

/** The tables and notes of that report. */
export const reportBefore = readFileSync(join(fixture, 'report.txt'), 'utf8');
