import { chmodSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { socketAddress } from '../../src/files/socket-address.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'address-'))));
afterEach(() => removeFolder(folder));

const uid = process.getuid!();
const address = (runtimeDirectory: string | undefined, temporary: string) =>
  socketAddress('/some/runs', { runtimeDirectory, temporary, uid });

describe('the address of the socket', () => {
  it('is in the runtime directory of the user, in a folder of its own', () => {
    const path = address(folder, '/tmp');
    expect(path).toMatch(new RegExp(`^${folder}/memrl/[0-9a-f]{8}\\.sock$`));
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  it('is the same for the same runs directory, and another for another', () => {
    expect(address(folder, '/tmp')).toBe(address(folder, '/tmp'));
    const other = socketAddress('/other/runs', { runtimeDirectory: folder, temporary: '/tmp', uid });
    expect(other).not.toBe(address(folder, '/tmp'));
  });

  it('is below the temporary folder without one, or where its path would be too long', () => {
    expect(address(undefined, folder)).toContain(`${folder}/memrl-${uid}/`);
    expect(address(join(folder, 'x'.repeat(100)), folder)).toContain(`${folder}/memrl-${uid}/`);
  });

  it('is at no relative path, as the standard of XDG_RUNTIME_DIR demands', () => {
    expect(address('run/user', folder)).toContain(`${folder}/memrl-${uid}/`);
    expect(address('run/user', 'tmp')).toContain(`/tmp/memrl-${uid}/`);
    expect(address('', folder)).toContain(`${folder}/memrl-${uid}/`);
  });

  it('is never longer than the system takes', () => {
    const path = address(join(folder, 'x'.repeat(100)), join(folder, 'y'.repeat(100)));
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(107);
    expect(path).toContain(`/tmp/memrl-${uid}/`);
  });

  it('avoids a folder that others may enter', () => {
    mkdirSync(join(folder, 'memrl'));
    chmodSync(join(folder, 'memrl'), 0o755);
    expect(address(folder, folder)).toContain(`${folder}/memrl-${uid}/`);
  });

  it('is refused, with all the reasons, where there is no place', () => {
    const nobody = { runtimeDirectory: folder, temporary: folder, uid: uid + 1 };
    expect(() => socketAddress('/some/runs', nobody)).toThrow(/belongs to someone else[^]*belongs to someone else/);
  });
});
