import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRegular, readRegular, statRegular } from '../../src/files/regular-file.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'regular-'))));
afterEach(() => removeFolder(folder));

const made = (name: string, make: (path: string) => void) => {
  const path = join(folder, name);
  make(path);
  return path;
};

describe('a file that somebody else has put there', () => {
  it('is read as a whole when it is a regular one', () => {
    const path = made('a', (at) => writeFileSync(at, 'text'));
    expect(readRegular(path, 100)).toEqual({ kind: 'text', text: 'text' });
    const link = made('link', (at) => symlinkSync(path, at));
    expect(readRegular(link, 100)).toEqual({ kind: 'text', text: 'text' });
  });

  it('is absent, and nothing worse, when nothing is there', () => {
    expect(readRegular(join(folder, 'none'), 100)).toEqual({ kind: 'absent' });
    expect(statRegular(join(folder, 'none'))).toEqual({ kind: 'absent' });
  });

  it.each<{ what: string; make: (path: string) => void; reason: RegExp }>([
    { what: 'a named pipe without a writer', make: (at) => void spawnSync('mkfifo', [at]), reason: /named pipe/ },
    { what: 'a device', make: (at) => symlinkSync('/dev/zero', at), reason: /device/ },
    { what: 'a directory', make: (at) => mkdirSync(at), reason: /directory/ },
    { what: 'a link to itself', make: (at) => symlinkSync(at, at), reason: /symbolic link/ },
    { what: 'larger than expected', make: (at) => writeFileSync(at, 'x'.repeat(101)), reason: /larger than 100 bytes/ },
    { what: 'below a file', make: (at) => writeFileSync(join(at, '..', 'file'), ''), reason: /not a directory/ },
  ])('says why it cannot be read: $what', ({ what, make, reason }) => {
    const made_ = made('odd', make);
    const path = what === 'below a file' ? join(folder, 'file', 'odd') : made_;
    expect(readRegular(path, 100)).toEqual({ kind: 'unreadable', reason: expect.stringMatching(reason) as string });
  });

  it('says of a name that is too long that it is', () => {
    const reason = expect.stringMatching(/too long/) as string;
    expect(readRegular(join(folder, 'x'.repeat(300)), 100)).toEqual({ kind: 'unreadable', reason });
  });

  it.skipIf(process.getuid?.() === 0)('says that it may not be read', () => {
    const path = made('closed', (at) => writeFileSync(at, ''));
    chmodSync(path, 0);
    expect(readRegular(path, 100)).toEqual({ kind: 'unreadable', reason: 'permission denied' });
  });

  it('is not opened when it is a socket', async () => {
    const path = join(folder, 's');
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    expect(openRegular(path)).toEqual({ kind: 'unreadable', reason: expect.stringMatching(/a socket/) as string });
    server.close();
  });

  it('is not followed where a link has no business', () => {
    const path = made('a', (at) => writeFileSync(at, 'secret'));
    const link = made('link', (at) => symlinkSync(path, at));
    expect(readRegular(link, 100, { noLink: true }).kind).toBe('unreadable');
  });
});
