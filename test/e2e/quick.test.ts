import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, read, write, open, at } = workplace();
const sweep = join(process.cwd(), 'sweeps/quick.yaml');

describe('the quick sweep', () => {
  it('memorises in every run, ends with its table, and is not done twice', { tags: ['long'] }, async () => {
    const { code, out, err } = await run(sweep, '--plain');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('18 done, 0 failed');
    expect(out).toContain('quick · 18 done');
    const rows = out.split('\n').filter((line) => /^(binary|binned +\d|dense, stepwise +\d|SFT)/.test(line));
    expect(rows).toHaveLength(7);
    for (const row of rows) expect(row).toMatch(/ 2\/2 /);

    const again = await run(sweep, '--plain');
    expect(again.code).toBe(0);
    expect(again.out).toContain('nothing to do, all 18 runs are done');
    const plan = JSON.parse((await run(sweep, '--dry-run', '--json')).out) as { runs: { state: string }[] };
    expect(new Set(plan.runs.map(({ state }) => state))).toEqual(new Set(['done']));
    expect(read('runs/quick/sweep.yaml')).toBe(readFileSync(sweep, 'utf8'));

    // A person who opens it again can see the table, and look at the runs behind it.
    const window = open(sweep);
    await window.waitFor((lines) => lines.some((line) => /S (shows the )?results/.test(line)));
    window.write('S');
    await window.waitFor((lines) => lines.some((line) => line.includes('memorised')));
    window.write('\u001b');
    // An Escape with a key behind it in the same breath would be one key.
    await window.waitFor((lines) => !lines.some((line) => line.includes('memorised')));
    window.write('q');
    expect((await window.ended()).code).toBe(0);
    window.close();
  });
});

describe('a training run that is killed in the window and started again', () => {
  it('ends with the same weights and metrics as one that was left alone', { tags: ['long'] }, async () => {
    write(
      'twice.yaml',
      `
command: [memrl, train, 'log_path=\${run_dir}', '\${args_no_hyphens}']
parameters: { N: 64, reward_type: log_distance, fixed_secret: 9, n_batches: 6000, save_every: 500, group_size: 4, learning_rate: 3e-4, test_n_batches: 0 }
done: { file: checkpoints.jsonl, where: 'name == "final"' }
groups:
  alone: { name: alone }
  broken: { name: broken }
`,
    );
    const window = open('twice.yaml', '--slots', '2');
    await window.waitFor((lines) => lines.some((line) => line.includes('2 running')));
    window.write('2\u001b[B');
    await window.waitFor(() => rowsOf(read('runs/twice/broken/checkpoints.jsonl')) >= 1, 60_000);
    window.write('k');
    await window.waitFor((lines) => lines.some((line) => /Kill broken\?/.test(line)));
    window.write('y');
    await window.waitFor((lines) => lines.some((line) => line.includes('1 killed')));
    window.write('r');
    await window.waitFor((lines) => lines.some((line) => line.includes('2 done')), 90_000);
    window.write('q');
    await window.ended();
    window.close();
    expect(read('runs/twice/broken/output.log')).toContain('attempt 2');
    for (const file of ['metrics.jsonl', 'checkpoints/final/model.safetensors']) {
      const [alone, broken] = ['alone', 'broken'].map((name) => readFileSync(at(`runs/twice/${name}/${file}`)));
      expect({ file, same: alone!.equals(broken!) }).toEqual({ file, same: true });
    }
  });
});

function rowsOf(text: string): number {
  return text.split('\n').filter(Boolean).length;
}
