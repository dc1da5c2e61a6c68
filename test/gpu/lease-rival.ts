/** A supervisor that wants GPUs: `node lease-rival.js DIRECTORY RUNS GO ROUNDS` prints for each of GPU-0 … whether it got it. */
import { existsSync } from 'node:fs';
import { GpuLeases } from '../../src/gpu/leases.js';
import { identityOf } from '../../src/processes/process-identity.js';

const [directory, runsDirectory, go, rounds] = process.argv.slice(2) as [string, string, string, string];
const supervisor = identityOf(process.pid)!;
const leases = new GpuLeases({ directory, supervisor, runsDirectory, uid: process.getuid!() });
process.stdout.write('ready\n');
while (!existsSync(go));
const takings = Array.from({ length: Number(rounds) }, (_, round) => {
  const taking = leases.take(`GPU-${round}`) === 'taken';
  // What is given back at once is fought for again, among numbers that are being cleared away.
  if (taking && round % 4 === 3) {
    leases.release(`GPU-${round}`);
    return leases.take(`GPU-${round}`) === 'taken';
  }
  return taking;
});
process.stdout.write(`${JSON.stringify({ takings, problem: leases.problem })}\n`);
// It lives until its stdin is closed, for its leases live as long.
process.stdin.resume();
