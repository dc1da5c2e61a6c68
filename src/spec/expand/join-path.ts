/** A POSIX path below another; an absolute one stays as it is. `.` and `..` are resolved, as in a shell's `cd`. */
export function joinPath(base: string, path: string): string {
  const whole = path.startsWith('/') ? path : `${base}/${path}`;
  const parts: string[] = [];
  for (const part of whole.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
