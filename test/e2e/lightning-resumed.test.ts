import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workplace } from './program.js';

const place = workplace();
const written = join(process.cwd(), 'test/fixtures/metrics/lightning-resumed/lightning_logs');

/** Each attempt leaves what Lightning left in that one, in a folder of its own or in the one of before, which it empties; two of three are killed. */
const attempt = `echo >> "$2/starts"; n=$(($(wc -l < "$2/starts") - 1))
to="$2/lightning_logs/version_$([ "$1" = same ] && echo 0 || echo $n)"
rm -rf "$to"; mkdir -p "$to"; cp "$0/version_$n/"* "$to"; [ $n = 2 ] || kill -9 $$
`;

type Value = { name: string; metric: string; step: number; value: number };

it('a run of Lightning that is resumed twice beside others of a sweep is one curve, in one folder or in three', async () => {
  place.write('attempt.sh', attempt);
  const command = `[sh, -c, '. ./attempt.sh', '${written}', '\${folder}', '\${run_dir}']`;
  const retry = '{ max: 2, backoff: 1s, on: [signal] }';
  const parameters = '{ folder: [same, own] }';
  place.write(
    's.yaml',
    `name: s\nresources: { gpus: 0 }\ncommand: ${command}\nretry: ${retry}\nparameters: ${parameters}\n`,
  );
  expect(await place.run('s.yaml', '--plain')).toMatchObject({ code: 0 });
  const { out } = await place.run('export', 's', '--metrics', 'all', '--format', 'json');
  const values = JSON.parse(out) as Value[];
  const stepsOf = (run: string, key: string) =>
    values.filter(({ name, metric }) => name === run && metric === key).map(({ step }) => step);
  for (const run of ['own', 'same'].map((folder) => `folder-${folder}`)) {
    expect(stepsOf(run, 'loss')).toEqual(Array.from({ length: 80 }, (_, step) => step));
    expect(stepsOf(run, 'val_loss')).toEqual([9, 19, 29, 39, 49, 59, 69, 79]);
  }
  const losses = new Set(values.map(({ metric }) => metric).filter((metric) => metric.includes('loss')));
  expect([...losses].toSorted()).toEqual(['loss', 'val_loss']);
});
