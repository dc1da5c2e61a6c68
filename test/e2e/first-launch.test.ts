import { utimesSync } from 'node:fs';
import { expect, it } from 'vitest';
import { workplace } from './program.js';

const place = workplace();

const sweep = `name: s
command: [sh, train.sh, '\${run_dir}']
resources: { gpus: 0 }
groups:
  warmup: { optional: true }
  main: { needs: warmup, parameters: { seed: [0, 1] } }
`;

it('says what a launch does until the window is there, which is whole at once and names runs that are older than their program', async () => {
  place.write('train.sh', 'echo \'{"step":1,"loss":0.5}\' > "$1/metrics.jsonl"\n');
  place.write('s.yaml', sweep);
  await place.run('s.yaml', '--plain');
  const soon = Date.now() / 1000 + 5;
  utimesSync(place.at('train.sh'), soon, soon);

  const terminal = place.open('s.yaml');
  const rows = await terminal.waitFor((lines) => lines.at(-1)!.includes('q detach'));
  const [before, after] = terminal.output.split('\u001b[?1049h');
  for (const words of [
    'reading s.yaml …',
    's: 2 runs + 1 prerequisite · connecting',
    'submitting 2 runs + 1 prerequisite',
  ])
    expect(before).toContain(words);
  // What passed is gone from the person's own screen.
  expect(before!.slice(before!.lastIndexOf('\u001b[K'))).toBe('\u001b[K');
  expect(after).toBeDefined();
  expect(rows[0]).toContain('s  2 runs + 1 prerequisite   ✓ 3 done');
  expect(rows.join('\n')).toContain(
    '3 done runs are not run again although train.sh changed since; --dry-run says how',
  );
  terminal.write('q');
  expect((await terminal.ended()).code).toBe(0);
});
