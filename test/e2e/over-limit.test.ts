import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trainIn } from '../lab/algorithms/run-in-test.js';
import { workplace } from './program.js';

const { at, run } = workplace();

describe('a run of the lab whose policy that samples left the one that learns', () => {
  it('is done, but over its limit, wherever its folder is shown', async () => {
    const line =
      'N=8 n_batches=6 test_n_batches=1 reward_type=log_distance max_tokens=2 num_substeps=4 batch_size=4 entropy_coef=1';
    await trainIn(at('r/far'), [...line.split(' '), 'learning_rate=1']);
    await trainIn(at('r/near'), [...line.split(' '), 'learning_rate=1e-6']);
    // Written days ago, so that nobody takes it for runs that are up.
    const long = new Date(Date.now() - 2 * 86_400_000);
    for (const path of readdirSync(at('r'), { encoding: 'utf8', recursive: true }))
      utimesSync(join(at('r'), path), long, long);
    const { out } = await run('ls', 'r');
    expect(out).toMatch(/far .*over limit: optim\/kl_sample_train_v\d was \S+ at step \d, limit 0\.01/);
    expect(out).not.toMatch(/near .*limit/);
    expect((await run('report', 'r')).out).toMatch(/2 done.* · 1 over limit/);
    expect((await run('best', 'r')).out).not.toContain('no candidate');
  });
});
