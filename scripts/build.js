/**
 * Builds what is shipped into `dist/`: the lab's kernels (AssemblyScript → WebAssembly), the programs, the library `memrl-tui/lab`.
 *
 * Somebody may be running a command, or a supervisor, meanwhile. So nothing is deleted first: files with a name of their own are added,
 * the others are replaced one at a time, each by renaming, and the small files that are the programs come last. A build that is
 * interrupted leaves the programs as they were. Where `dist/` is of these sources already, nothing is built.
 *
 * With `--kernels` only the kernels are built.
 */
import { fileURLToPath } from 'node:url';
import { compileAhead } from './build/compile-ahead.js';
import { Dist, sourcesHash } from './build/dist.js';
import { buildKernels, kernelFiles, warmupFiles } from './build/kernels.js';
import { bundleLibrary, bundlePrograms } from './build/programs.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const options = process.argv.slice(2);
const dist = new Dist(root, sourcesHash(root, options));

if (options.includes('--kernels')) await buildKernels(root);
else {
  if (!dist.isBuilt()) await buildAll();
  await compileAhead(dist.folder, dist.hash);
  dist.sweep();
}

async function buildAll() {
  const [, programs, library] = await Promise.all([buildKernels(root), bundlePrograms(root), bundleLibrary(root)]);
  const beside = [...kernelFiles(root), ...warmupFiles(root)];
  for (const file of [...programs.parts, ...beside, ...library, ...programs.launchers]) dist.write(file);
  dist.finish();
}
