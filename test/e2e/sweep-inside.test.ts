import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const place = workplace();
const fixture = join(
  process.cwd(),
  'test/fixtures/metrics/wandb/wandb/offline-run-20261122_142543-fixture1/run-fixture1.wandb',
);

/** Asks as wandb does, for a program that calls `wandb.sweep(config)` and `wandb.agent(sweep, function=train)`, and writes what it writes. */
const standIn = `// wandb.sweep(config); wandb.agent(sweep, function=train)
const fs = require('node:fs');
const { WANDB_BASE_URL: url, WANDB_DIR: dir, WANDB_MODE: mode, WANDB_API_KEY: key } = process.env;
const ask = async (query, variables) => {
  const response = await fetch(url + '/graphql', { method: 'POST', body: JSON.stringify({ query, variables }) });
  return (await response.json()).data;
};
const train = (sweep, { run_id: id, args }) => {
  const folder = dir + '/wandb/offline-run-20260101_00000' + fs.readdirSync(dir).length + '-' + id;
  for (const each of [folder, dir + '/wandb/sweep-' + sweep]) fs.mkdirSync(each, { recursive: true });
  fs.writeFileSync(dir + '/wandb/sweep-' + sweep + '/config-' + id + '.yaml', JSON.stringify(args));
  fs.copyFileSync(${JSON.stringify(fixture)}, folder + '/run-' + id + '.wandb');
  console.log('trained', id, JSON.stringify(args));
};
(async () => {
  console.log(mode, key.length, new URL(url).hostname);
  const config = 'method: grid\\nparameters:\\n  lr:\\n    values: [0.1, 0.01]\\n  depth:\\n    value: 2\\n';
  const { upsertSweep } = await ask('mutation { upsertSweep }', { config });
  const sweep = upsertSweep.sweep.name;
  const { createAgent } = await ask('mutation { createAgent }', { sweep });
  for (;;) {
    const { agentHeartbeat } = await ask('mutation { agentHeartbeat }', { id: createAgent.agent.id, runState: '{}' });
    const [command] = JSON.parse(agentHeartbeat.commands);
    if (command.type === 'exit') break;
    train(sweep, command);
  }
  if (process.argv[2] === 'dies') process.kill(process.pid, 'SIGSEGV');
  process.exit(Number(process.argv[2] ?? 0));
})();
`;

type Row = {
  state: string;
  metrics: object;
  reason: string;
  exit: { class: string; code: number | null; signal: string | null };
};

async function launched(command: string): Promise<{ rows: Row[]; log: string }> {
  place.write('s.yaml', `name: s\nresources: { gpus: 0 }\ncommand: ${command}\nparameters: { seed: 0 }\n`);
  await place.run('s.yaml', '--plain');
  const rows = JSON.parse((await place.run('ls', '--json')).out) as Row[];
  return { rows, log: place.read('runs/s/runs/output.log') };
}

describe('a program with a sweep of W&B inside', () => {
  it('finds what it asks for on this machine, and each of its runs has curves under its own name', async () => {
    place.write('train.py', standIn);
    const { rows, log } = await launched('[node, train.py]');
    expect(log.split('\n')).toEqual([
      'offline 40 127.0.0.1',
      'trained lr0.1 {"depth":{"value":2},"lr":{"value":0.1}}',
      'trained lr0.01 {"depth":{"value":2},"lr":{"value":0.01}}',
      '',
    ]);
    expect(rows).toMatchObject([{ state: 'done', metrics: { 'lr0.1/loss': 0.325, 'lr0.01/loss': 0.325 } }]);
    const plan = (await place.run('s.yaml', '--dry-run')).out.replaceAll(/\s+/g, ' ');
    expect(plan).toContain('The sweep inside the program is answered on this machine.');
  });

  it('ends as it ends, and as one that is not there', async () => {
    place.write('train.py', standIn);
    const [own, signal] = [
      (await launched('[node, train.py, 3]')).rows,
      (await launched('[node, train.py, dies]')).rows,
    ];
    expect(own.at(-1)).toMatchObject({ state: 'failed', exit: { code: 3 } });
    expect(JSON.stringify(signal)).toContain('SIGSEGV');
    expect((await launched('[absent-node, train.py]')).rows[0]).toMatchObject({
      state: 'failed',
      reason: 'command not found: absent-node',
    });
  });
});

/** With wandb; `WANDB_PYTHON` names another one than that on the path. */
const python = process.env['WANDB_PYTHON'] ?? 'python3';
const hasWandb = spawnSync(python, ['-c', 'import wandb']).status === 0;
if (!hasWandb) console.warn(`SKIPPED, because ${python} has no wandb here: an unmodified program with a sweep inside`);

const program = `import wandb

def train():
    with wandb.init(config={"depth": 2}) as run:
        for step in range(5):
            wandb.log({"loss": wandb.config.lr * (5 - step), "acc": step / 5})

sweep_id = wandb.sweep({"method": "grid", "parameters": {"lr": {"values": [0.1, 0.01]}}}, project="demo")
wandb.agent(sweep_id, function=train, count=5)
print("all done")
`;

describe.runIf(hasWandb)('wandb itself', () => {
  it('works unchanged, without a network and an account', { tags: ['long'] }, async () => {
    place.write('train.py', program);
    const { rows, log } = await launched(`[${python}, train.py]`);
    expect(log).toContain('all done');
    const metrics = { 'lr0.1/loss': 0.1, 'lr0.01/loss': 0.01, 'lr0.1/acc': 0.8, 'lr0.01/acc': 0.8 };
    expect(rows).toMatchObject([{ state: 'done', metrics, declared: { depth: 2 } }]);
  });
});
