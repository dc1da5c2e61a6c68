/** Two users on one machine, for real: made by number, which takes root. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, eventually, type Ended } from './program.js';
import { removeFolder } from '../remove-folder.js';
import { PATIENCE_MS } from '../patience.js';

const ALICE = 64_201;
const BOB = 64_202;
const SECRET = 'sesame-5e4d3c2b1a';

type Place = { folder?: string; more?: Record<string, string> };

const mayBecome = process.getuid?.() === 0 && as(ALICE, process.execPath, ['-e', '0']).code === 0;
if (!mayBecome) console.warn('SKIPPED: only root can try two users on one machine');

/** `place`: working directory and variables beside PATH and HOME. */
function as(uid: number, command: string, words: string[], place: Place = {}): Ended {
  const { folder = '/', more = {} } = place;
  const env = { PATH: process.env['PATH']!, HOME: folder, ...more };
  const { status, stdout, stderr } = spawnSync(command, words, {
    ...{ uid, gid: uid, cwd: folder, env, encoding: 'utf8', timeout: PATIENCE_MS },
  });
  return { code: status, out: stdout, err: stderr };
}

describe.skipIf(!mayBecome)('two users on one machine', () => {
  let root = '';
  let program = '';
  const homeOf = (uid: number) => join(root, String(uid));
  const memrl = (uid: number, ...words: string[]) =>
    as(uid, process.execPath, [program, ...words], {
      folder: homeOf(uid),
      more: { XDG_RUNTIME_DIR: join(homeOf(uid), 'runtime') },
    });
  const lockIn = (runs: string) =>
    JSON.parse(readFileSync(join(runs, '.supervisor', 'lock.json'), 'utf8')) as { pid: number; socket: string };

  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'users-')));
    chmodSync(root, 0o755);
    cpSync('dist', join(root, 'dist'), { recursive: true, verbatimSymlinks: true });
    program = join(root, 'dist', 'memrl-tui.js');
    for (const uid of [ALICE, BOB]) {
      for (const path of [homeOf(uid), join(homeOf(uid), 'runtime')]) {
        mkdirSync(path, { mode: 0o755 });
        chownSync(path, uid, uid);
      }
      chmodSync(join(homeOf(uid), 'runtime'), 0o700);
    }
    writeFileSync(join(homeOf(ALICE), 's.yaml'), 'command: [sleep, "600"]\nparameters: { n: [1, 2] }\n');
    chmodSync(join(homeOf(ALICE), 's.yaml'), 0o644);
  });

  afterAll(async () => {
    const runs = join(homeOf(ALICE), 'runs');
    if (existsSync(join(runs, '.supervisor', 'lock.json'))) {
      const { pid } = lockIn(runs);
      memrl(ALICE, 'stop', 's', '-y', '--wait');
      await eventually(() => !isAlive(pid), 'the supervisor to leave');
    }
    removeFolder(root);
  });

  it('the one cannot read, reach or change what the supervisor of the other keeps', () => {
    const runs = join(homeOf(ALICE), 'runs');
    const launched = as(ALICE, process.execPath, [program, 's.yaml', '--detach', '--slots', '2'], {
      folder: homeOf(ALICE),
      more: { MEMRL_API_KEY: SECRET, XDG_RUNTIME_DIR: join(homeOf(ALICE), 'runtime') },
    });
    expect(launched).toMatchObject({ code: 0 });
    const { socket, pid } = lockIn(runs);

    for (const words of [['ls'], ['kill', 'all', '-y'], ['attach'], ['logs', 's'], ['stop', 's', '-y']]) {
      const { code, out, err } = memrl(BOB, ...words, '--runs', runs);
      expect({ words, code, out, err }).toMatchObject({ code: 2, out: '' });
      expect(err).toMatch(/belongs to another user|cannot be read|no runs directory/);
    }
    const prying = `
      const { readFileSync, readdirSync } = require('node:fs');
      const found = [];
      const walk = (path) => {
        try { readdirSync(path).forEach((name) => walk(path + '/' + name)); } catch (error) {
          if (error.code === 'ENOTDIR') try { if (readFileSync(path).includes('${SECRET}')) found.push(path); } catch {}
        }
      };
      walk('${homeOf(ALICE)}');
      for (const pid of readdirSync('/proc').filter((name) => Number(name) > 0)) for (const file of ['cmdline', 'environ'])
        try { if (readFileSync('/proc/' + pid + '/' + file).includes('${SECRET.slice(0, 9)}' + '${SECRET.slice(9)}')
          && Number(pid) !== process.pid) found.push(pid + file); } catch {}
      const keys = [];
      try { keys.push(...readdirSync('${runs}/.supervisor')); } catch {}
      require('node:net').connect('${socket}').on('connect', () => console.log('REACHED')).on('error', () =>
        console.log(JSON.stringify({ found, keys })));
    `;
    const pried = as(BOB, process.execPath, ['-e', prying], { folder: homeOf(BOB) });
    expect(pried.out.trim()).toBe(JSON.stringify({ found: [], keys: [] }));
    expect(isAlive(pid)).toBe(true);
    expect(memrl(ALICE, 'status', '--json').out).toContain('"running"');
  });

  it('the one is sent nothing by the other through a runs directory that was planted', async () => {
    const runs = join(homeOf(BOB), 'planted');
    const heard = join(homeOf(BOB), 'heard');
    const trap = join(homeOf(BOB), 'trap.sock');
    const planting = `
      const fs = require('node:fs');
      fs.mkdirSync('${runs}/.supervisor', { recursive: true });
      fs.chmodSync('${runs}/.supervisor', 0o777);
      fs.writeFileSync('${runs}/.supervisor/lock.json',
        JSON.stringify({ pid: process.pid, startTime: '1', bootId: 'x', socket: '${trap}', version: 1 }));
      fs.symlinkSync('${homeOf(ALICE)}/victim', '${runs}/.supervisor/journal.jsonl');
      require('node:net').createServer((socket) => {
        fs.writeFileSync('${heard}', 'connected');
        socket.on('data', (bytes) => fs.appendFileSync('${heard}', bytes)).write('{"type":"hello","version":1,"pid":1}\\n');
      }).listen('${trap}', () => { fs.chmodSync('${trap}', 0o777); fs.chmodSync('${runs}', 0o777); });
    `;
    writeFileSync(join(homeOf(ALICE), 'victim'), 'precious');
    chownSync(join(homeOf(ALICE), 'victim'), ALICE, ALICE);
    const bob: ChildProcess = spawn(process.execPath, ['-e', planting], { uid: BOB, gid: BOB, stdio: 'inherit' });
    try {
      await eventually(() => existsSync(trap), 'the trap');
      for (const words of [['ls'], ['s.yaml', '--detach'], ['attach']]) {
        const { code, err } = memrl(ALICE, ...words, '--runs', runs);
        expect({ words, code, err }).toMatchObject({ code: 2 });
        expect(err).toMatch(/belongs to another user/);
      }
    } finally {
      bob.kill('SIGKILL');
    }
    expect(existsSync(heard)).toBe(false);
    expect(readFileSync(join(homeOf(ALICE), 'victim'), 'utf8')).toBe('precious');
  });

  it(
    'the one writes nothing below a sweep’s folder that the other has put into a shared runs directory',
    { tags: ['long'] },
    async () => {
      const runs = join(root, 'shared');
      mkdirSync(runs);
      chmodSync(runs, 0o1777);
      const planted = as(BOB, '/bin/sh', ['-c', `mkdir -p ${runs}/s && chmod 777 ${runs}/s`]);
      expect(planted.code).toBe(0);
      const { code, err } = memrl(ALICE, 's.yaml', '--detach', '--runs', runs);
      expect([code, err]).toEqual([2, expect.stringMatching(/sweep's folder .* belongs to another user/)]);
      expect(readdirSync(join(runs, 's'))).toEqual([]);
      const { pid } = lockIn(runs);
      await eventually(() => !isAlive(pid), 'the supervisor to leave');
    },
  );
});
