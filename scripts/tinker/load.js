/** Eight clients of the official SDK at once: no request is lost, and no answer goes to another. */
import { join } from 'node:path';
import { pythonWith, root, runPython, withService } from './support.js';

const [clients, requests] = [8, 1000];

export async function loadService() {
  const python = pythonWith([['tinker==0.38.0']], 'sdk-0.38.0');
  await withService(async ({ url }) => {
    const program = join(root, 'scripts/tinker/load.py');
    const began = performance.now();
    const seconds = await Promise.all(
      Array.from({ length: clients }, (_, client) =>
        runPython(python, [program, client, requests].map(String), { url }),
      ),
    );
    const whole = (performance.now() - began) / 1000;
    const all = clients * requests;
    const asking = Math.max(...seconds.map(Number));
    console.log(
      `${clients} clients × ${requests} requests: none lost, none mixed up; ${all} in ${asking.toFixed(1)} s, ` +
        `${(all / asking).toFixed(0)} a second (with the start of the clients ${whole.toFixed(1)} s)`,
    );
  });
}
