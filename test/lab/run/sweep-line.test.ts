import { expect, it } from 'vitest';
import { gridWords } from '../../../src/lab/run/sweep-line.js';
import { workplace } from '../../e2e/program.js';
import { memrl } from '../program.js';
import { typedLine } from '../typed-pages.js';

const { run } = workplace();

it('memrl sweep plans a run of memrl grpo for each setting of the grid, from a command line of small-rl', async () => {
  const [command, ...line] = typedLine('small-rl', 'python sweep.py');
  expect(command).toBe('sweep');
  const { code, out } = await run(...gridWords([...line, '--dry_run']));
  expect([code, out]).toEqual([0, expect.stringMatching(/6 runs in 1 group[^]*s\{42,123,7\}_beta\{0\.01,0\.02\}/)]);
  expect(out).toContain('memrl grpo reward=sentence_length_5 lr=1e-5 batch_size=32 num_generations=16 max_steps=2000');
  expect(gridWords(line)).not.toContain('--dry-run');
  expect(gridWords(line).join(' ')).toContain(' --per-gpu 12 -- ');
});

it.each([
  { line: ['--grids', 'seed=1'], says: /does not know `--grids`; it has --reward, --grid/ },
  { line: ['seed=1'], says: /does not know `seed=1`/ },
  { line: ['--reward', 'happy_count'], says: /has no --grid: nothing varies\.[^]*→ Type for example/ },
])('memrl sweep refuses $line, and says what it has', async ({ line, says }) => {
  const { code, stderr } = await memrl(['sweep', ...line]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
});

it('memrl sweep --help shows its usage', async () => {
  const { code, stdout } = await memrl(['sweep', '--help']);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^memrl sweep --reward NAME --grid KEY=VALUE,[^]*small-rl/),
  ]);
  expect(stdout).not.toContain('Keys with');
});
