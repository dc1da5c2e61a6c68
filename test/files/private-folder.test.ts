import { chmodSync, chownSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRunsDirectory, socketProblem } from '../../src/files/private-folder.js';
import { removeFolder } from '../remove-folder.js';

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

let runs: string;
beforeEach(() => void (runs = mkdtempSync(join(tmpdir(), 'private-'))));
afterEach(() => removeFolder(runs));

describe('a runs directory that is trusted', () => {
  it('belongs to the person alone, whether a supervisor was there or not', () => {
    checkRunsDirectory(join(runs, 'none yet'));
    checkRunsDirectory(runs);
    mkdirSync(join(runs, '.supervisor', 'plans'), { recursive: true, mode: 0o700 });
    writeFileSync(join(runs, '.supervisor', 'journal.jsonl'), '');
    checkRunsDirectory(runs);
  });

  it('may be a sticky one, in which nobody can replace what is another user’s', () => {
    chmodSync(runs, 0o1777);
    checkRunsDirectory(runs);
  });

  it('may be written to by the group of its owner, as the umask of many systems has it', () => {
    chmodSync(runs, 0o775);
    checkRunsDirectory(runs);
  });
});

describe('a runs directory that is not trusted', () => {
  const folder = () => {
    const path = join(runs, '.supervisor');
    mkdirSync(path, { mode: 0o700 });
    return path;
  };

  it.each<{ what: string; make: () => void; says: RegExp }>([
    { what: 'can be written to by everybody', make: () => chmodSync(runs, 0o777), says: /Every user/ },
    {
      what: 'has a link for the supervisor’s folder',
      make: () => symlinkSync(tmpdir(), join(runs, '.supervisor')),
      says: /\.supervisor is a symbolic link/,
    },
    {
      what: 'has a file for it',
      make: () => writeFileSync(join(runs, '.supervisor'), ''),
      says: /is not a directory/,
    },
    { what: 'has it open to others', make: () => chmodSync(folder(), 0o722), says: /written to by other users/ },
    {
      what: 'has a link for the journal',
      make: () => symlinkSync('/etc/passwd', join(folder(), 'journal.jsonl')),
      says: /journal\.jsonl is a symbolic link/,
    },
    {
      what: 'has a link for the environments',
      make: () => symlinkSync('/etc', join(folder(), 'environments')),
      says: /environments is a symbolic link/,
    },
    {
      what: 'has a link among the environments',
      make: () => {
        mkdirSync(join(folder(), 'environments'));
        symlinkSync('/etc/passwd', join(runs, '.supervisor', 'environments', 'ab.json'));
      },
      says: /ab\.json is a symbolic link/,
    },
  ])('$what', ({ make, says }) => {
    make();
    expect(() => checkRunsDirectory(runs)).toThrow(says);
  });

  it.skipIf(!isRoot)('belongs to another user, or has a folder in it that does', () => {
    mkdirSync(join(runs, '.supervisor'), { mode: 0o700 });
    chownSync(join(runs, '.supervisor'), NOBODY, NOBODY);
    expect(() => checkRunsDirectory(runs)).toThrow(/\.supervisor belongs to another user/);
    chownSync(runs, NOBODY, NOBODY);
    expect(() => checkRunsDirectory(runs)).toThrow(/belongs to another user \(uid 65534\)/);
  });
});

describe('a socket that may be sent an environment', () => {
  let server: Server | null = null;
  afterEach(() => void server?.close());
  const listen = async (path: string) => {
    server = createServer();
    await new Promise<void>((resolve) => server!.listen(path, resolve));
  };

  it('lies in a folder that only its owner may enter', async () => {
    const path = join(runs, 's');
    await listen(path);
    expect(socketProblem(path)).toBeNull();
    chmodSync(runs, 0o755);
    expect(socketProblem(path)).toBe('its folder is open to other users');
  });

  it('is a socket, and there', () => {
    expect(socketProblem(join(runs, 'none'))).toBe('it does not exist');
    writeFileSync(join(runs, 'file'), '');
    expect(socketProblem(join(runs, 'file'))).toBe('it is not a socket');
    symlinkSync(join(runs, 'file'), join(runs, 'link'));
    expect(socketProblem(join(runs, 'link'))).toBe('it is not a socket');
  });

  it.skipIf(!isRoot)('was made by nobody else', async () => {
    const path = join(runs, 's');
    await listen(path);
    chownSync(path, NOBODY, NOBODY);
    expect(socketProblem(path)).toBe('it belongs to another user');
    chownSync(path, 0, 0);
    chownSync(runs, NOBODY, NOBODY);
    expect(socketProblem(path)).toBe('its folder belongs to another user');
  });
});
