import { describe, expect, it } from 'vitest';
import { type HostIdentity, hostIdentity, relationTo } from '../../src/processes/process-identity.js';

const here: HostIdentity = { host: 'alpha', machineId: 'm1', bootId: 'b1', pidNamespace: 'pid:[1]' };

describe('what a pid of somewhere else means here', () => {
  it.each<{ where: string; there: Partial<HostIdentity>; relation: string }>([
    { where: 'this very place', there: {}, relation: 'same' },
    { where: 'this machine before it was started again', there: { bootId: 'b0' }, relation: 'earlier' },
    { where: 'a container on this machine', there: { pidNamespace: 'pid:[2]', host: 'c0ffee' }, relation: 'foreign' },
    { where: 'another machine', there: { host: 'beta', machineId: 'm2', bootId: 'b2' }, relation: 'foreign' },
    { where: 'another machine of the same name', there: { machineId: 'm2', bootId: 'b2' }, relation: 'foreign' },
    { where: 'a copy of this machine under another name', there: { host: 'beta', bootId: 'b2' }, relation: 'foreign' },
  ])('$where: $relation', ({ there, relation }) => {
    expect(relationTo({ ...here, ...there }, here)).toBe(relation);
  });

  it('tells machines apart by name where there is no /proc', () => {
    const mac = { host: 'mac', machineId: '', bootId: '', pidNamespace: '' };
    expect(relationTo(mac, mac)).toBe('same');
    expect(relationTo({ ...mac, host: 'other' }, mac)).toBe('foreign');
  });

  it('knows this process', () => {
    expect(relationTo(hostIdentity())).toBe('same');
    expect(hostIdentity().host).not.toBe('');
  });
});
