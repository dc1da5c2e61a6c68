import { spawnSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { lockOf } from '../src/client/ensure-supervisor.js';
import { Testbed } from '../test/supervisor/testbed.js';

const RUNS = 10_000;
/** Each changes all rows once. */
const ROUNDS = 6;
const BUDGET_MB = 16;

/** Memory of a supervisor whose 10,000 rows all change again and again, with clients that never read. Budget: 16 MB for each of them. */
export async function benchStalled(): Promise<string[]> {
  const [none, one, five] = [await peak(0), await peak(1), await peak(5)];
  const each = Math.max(one - none, (five - none) / 5);
  return [
    `${ROUNDS} × ${RUNS} changed rows, supervisor's peak memory: ${none.toFixed(0)} MB with no stalled client, ` +
      `${one.toFixed(0)} MB with one, ${five.toFixed(0)} MB with five; budget ${BUDGET_MB} MB each: ` +
      (each <= BUDGET_MB ? 'held' : 'MISSED'),
  ];
}

async function peak(stalled: number): Promise<number> {
  const bed = new Testbed();
  const sockets: Socket[] = [];
  try {
    const fleet = await bed.fleet();
    const runs = Array.from({ length: RUNS }, (_, n) => ({ name: `run_with_a_longer_name_${n}`, argv: ['true'] }));
    await fleet.submit(bed.plan('s', runs), { PATH: process.env['PATH']! }, { slots: 0, gpus: 'none' });
    await fleet.until(({ runs: rows }) => rows.size === RUNS);
    for (let n = 0; n < stalled; n++) sockets.push(connect(lockOf(bed.runs)!.socket).pause());
    const ids = [...fleet.runs.keys()];
    for (let round = 0; round < ROUNDS; round++) {
      const ack = await (round % 2 === 0 ? fleet.act('hold', ids) : fleet.act('release', ids));
      if (!ack.ok) throw new Error(ack.message);
    }
    const { stdout } = spawnSync('grep', ['VmHWM', `/proc/${bed.supervisorPid()}/status`], { encoding: 'utf8' });
    return Number(/\d+/.exec(stdout)?.[0] ?? 0) / 1024;
  } finally {
    for (const socket of sockets) socket.destroy();
    await bed.close();
  }
}
