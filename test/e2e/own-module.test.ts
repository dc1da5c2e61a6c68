import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { program, workplace } from './program.js';

const { at, read } = workplace();

describe('the shipped lab', () => {
  it('imports a module of one’s own, and looks for packages that may be installed, from its compiled code', async () => {
    const objective = resolve('examples/clip-higher.mjs');
    const line = `train environment=arithmetic objective=${objective} num_substeps=2 model_name=micro batch_size=2 max_tokens=4 n_batches=1`;
    // By itself it looks for TensorFlow.js first.
    const words = [join(dirname(program), 'memrl.js'), ...line.split(' '), `log_path=${at('own')}`, 'engine=auto'];
    const { stdout } = await promisify(execFile)(process.execPath, words);
    expect(stdout).toContain('done: 1 step');
    expect(stdout).not.toContain('dynamic import');
    expect(read('own/metrics.jsonl')).toContain('"progress/batch":0');
  });
});
