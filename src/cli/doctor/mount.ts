/** What a path lies on. */
export type Mount = { folder: string; type: string; options: readonly string[] };

/**
 * The mount that holds a path; null when the list says nothing of it.
 *
 * @param mountinfo Text of /proc/self/mountinfo.
 */
export function mountOf(path: string, mountinfo: string): Mount | null {
  let best: Mount | null = null;
  for (const line of mountinfo.split('\n')) {
    const [, folder, options, type, superOptions] =
      /^\d+ \d+ \S+ \S+ (\S+) (\S+) .*?- (\S+) \S+ ?(\S*)$/.exec(line) ?? [];
    if (folder === undefined || options === undefined || type === undefined) continue;
    const place = folder.replace(/\\([0-7]{3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    );
    // Of two mounts on one folder the later one is seen.
    if (!isBelow(path, place) || (best !== null && place.length < best.folder.length)) continue;
    best = { folder: place, type, options: [...options.split(','), ...(superOptions ?? '').split(',')] };
  }
  return best;
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/** A file system whose files are on another machine, or kept by a program. */
export function isRemote(type: string): boolean {
  return /^(?:nfs|cifs|smb|9p|afs|ceph|lustre|gpfs|beegfs|glusterfs|virtiofs|fuse\.(?!fuseblk|overlay))/.test(type);
}
