/**
 * `npm run warmups`: makes the warm-ups that come with memrl anew, into `src/lab/run/warmups/`. Takes two minutes. Needed when `memrl
 * warmup` has other defaults than before; a test of the long tier says so.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArguments } from './arguments.js';

readArguments({}, 0);
const root = dirname(dirname(fileURLToPath(import.meta.url)));

for (const [game, name] of [
  ['single_step', 'SINGLE_STEP'],
  ['multi_step', 'MULTI_STEP'],
]) {
  const made = mkdtempSync(join(tmpdir(), 'memrl-warmup-'));
  const argv = ['warmup', `env_type=${game}`, `log_path=${made}`, 'engine=wasm'];
  execFileSync(process.execPath, [join(root, 'dist/memrl.js'), ...argv], { stdio: 'inherit' });
  const target = join(root, 'src/lab/run/warmups', name);
  mkdirSync(target, { recursive: true });
  const model = join(made, 'checkpoints/final');
  copyFileSync(join(model, 'model.json'), join(target, 'model.json'));
  writeFileSync(join(target, 'model.safetensors'), withoutOptimizer(readFileSync(join(model, 'model.safetensors'))));
  rmSync(made, { recursive: true });
}

/** The same file without Adam's moments, which lie behind the weights. */
function withoutOptimizer(file) {
  const length = Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString('utf8', 8, 8 + length));
  const weights = Object.entries(header).filter(([name]) => !/^(adam\.|__metadata__)/.test(name));
  const end = Math.max(...weights.map(([, { data_offsets: offsets }]) => offsets[1]));
  const text = JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(weights) });
  const padded = text.padEnd(Math.ceil(text.length / 8) * 8);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([size, Buffer.from(padded), file.subarray(8 + length, 8 + length + end)]);
}
