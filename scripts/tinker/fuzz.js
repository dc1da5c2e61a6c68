/** A hundred thousand bad requests: the service lives, computes what it did before, and takes no more memory. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { programOptions } from '../program-options.js';
import { root, withService } from './support.js';

const token = 'tml-the-secret-of-the-fuzz';
const [requests, parts] = [100_000, 20];

export async function fuzzService() {
  const outfile = join(root, 'dist', `fuzz-${process.pid}.mjs`);
  const entryPoints = ['test/lab/tinker/fuzz.ts'];
  await build({ absWorkingDir: root, entryPoints, outfile, ...programOptions, external: ['vitest', 'esbuild'] });
  const { fuzz, askJson, politeStatuses } = await import(pathToFileURL(outfile).href);
  await withService(
    async ({ url, server }) => {
      const ask = (path, body) => askJson({ url, token }, path, body);
      const { session_id } = await ask('create_session', {});
      const created = await ask('create_model', { session_id, model_seq_id: 0, base_model: 'memrl/tiny' });
      const { model_id: model } = await ask('retrieve_future', created);
      const scores = async () => JSON.stringify(await ask('retrieve_future', await ask('forward', passOn(model))));
      const before = await scores();
      const outcomes = {};
      const began = performance.now();
      for (let part = 0; part < parts; part++) {
        for (const [status, times] of Object.entries(await fuzz({ url, token, model }, requests / parts, part))) {
          outcomes[status] = (outcomes[status] ?? 0) + times;
        }
        const done = ((part + 1) * requests) / parts;
        const seconds = ((performance.now() - began) / 1000).toFixed(0);
        console.log(`${done} bad requests in ${seconds} s, the service has ${megabytes(server.pid)} MB`);
      }
      console.log(JSON.stringify(outcomes));
      const rude = Object.keys(outcomes).filter((each) => each !== 'cut' && !politeStatuses.includes(Number(each)));
      if (rude.length > 0) throw new Error(`The service answered with ${rude.join(', ')}.`);
      if ((await scores()) !== before) throw new Error('The service computes something else than before.');
    },
    { environment: { MEMRL_SERVE_TOKEN: token } },
  );
}

function passOn(model) {
  const numbers = (data, dtype) => ({ data, dtype, shape: [data.length] });
  const inputs = { target_tokens: numbers([6, 7], 'int64'), weights: numbers([1, 1], 'float32') };
  const data = [{ model_input: { chunks: [{ tokens: [5, 6] }] }, loss_fn_inputs: inputs }];
  return { model_id: model, forward_input: { data, loss_fn: 'cross_entropy' } };
}

function megabytes(pid) {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return NaN;
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(path, 'utf8'))[1]) / 1024);
}
