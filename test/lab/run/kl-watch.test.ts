import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KlWatch } from '../../../src/lab/run/kl-watch.js';
import { rowsIn, trainIn, testWorld } from '../algorithms/run-in-test.js';
import { tempDirectory } from '../temp-directory.js';

describe('KL between the policy that samples and the one that learns', () => {
  it('is reported when it first exceeds 0.01, and at the end with the number of times', () => {
    const watch = new KlWatch();
    const rows = [{ reward: 1 }, { 'optim/kl_sample_train_v1': 0.01 }, { 'optim/kl_sample_train_v1': -0.02, 'optim/kl_sample_train_v2': 0.5 }, { kl_sample_train_v2: 2.51 }]; // prettier-ignore
    const said = rows.map((row, step) => watch.see({ step, ...row }));
    expect(said).toEqual([null, null, expect.stringMatching(/^warning: optim\/kl_sample_train_v2 is 0\.500 at step 2; above 0\.01/), null]); // prettier-ignore
    expect(watch.summary()).toBe('warning: KL above 0.01 in 2 of 3 rows; kl_sample_train_v2 was 2.51 at step 3');
    expect(new KlWatch().summary()).toBe(null);
  });

  it('is checked during a run', async () => {
    const line =
      'N=8 n_batches=6 test_n_batches=1 reward_type=log_distance max_tokens=2 num_substeps=4 batch_size=4 entropy_coef=1';
    const folder = tempDirectory();
    const said = async (rate: string) => {
      const world = testWorld();
      await trainIn(join(folder, rate), [...line.split(' '), `learning_rate=${rate}`], world);
      return world.lines.filter((each) => each.startsWith('warning: '));
    };
    expect(await said('1e-6')).toEqual([]);
    expect(await said('1')).toEqual([expect.stringMatching(/kl_sample_train_v\d is/), expect.stringMatching(/KL above 0\.01 in/)]); // prettier-ignore
    // The first row has the limit of both distances, for whoever watches or draws the metrics; so it is where a run was resumed.
    const limits = () =>
      rowsIn(join(folder, '1')).map((row) => [1, 2].map((one) => row[`limit/optim/kl_sample_train_v${one}`]));
    const once = [[0.01, 0.01], ...Array.from({ length: 5 }, () => [undefined, undefined])];
    expect(limits().slice(0, 6)).toEqual(once);
    await trainIn(join(folder, '1'), [...line.replace('n_batches=6', 'n_batches=7').split(' '), 'learning_rate=1']);
    expect(limits().slice(0, 7)).toEqual([...once, [undefined, undefined]]);
  });
});
