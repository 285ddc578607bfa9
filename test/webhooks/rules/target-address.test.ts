import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNetworks, isAllowedTarget } from '../../../src/webhooks/rules/target-address.ts';

const none = createNetworks([]);

test('global addresses are allowed', () => {
  for (const address of [
    ...['1.1.1.1', '9.9.9.9', '100.63.255.255', '100.128.0.0', '172.32.0.1', '223.255.255.255'],
    ...['192.31.196.1', '192.52.193.1', '192.175.48.1', '2620:4f:8000::1'],
    ...['2606:4700::1111', '2a00:1450::1', '2001:200::1', '3ffe::1'],
  ])
    assert.ok(isAllowedTarget(address, none), address);
});

test('an address that is not global is refused in any notation', () => {
  for (const address of [
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.255.255.255'],
    ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1'],
    ...['192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
    ...['239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
    ...['64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::1'],
    ...['2002:808:808::1', '3fff::1', '5f00::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0'],
    ...['fec0::1', 'ff02::1', '4000::1', '', 'localhost', '1.1.1', '0x7f.1', '1.1.1.1.', '127.1'],
  ])
    assert.ok(!isAllowedTarget(address, none), address);
});

test('other addresses are allowed only in the networks that the operator names', () => {
  const allowed = createNetworks(['10.1.0.0/16', '192.168.1.7', 'fd00::/8', '::1']);
  for (const address of ['10.1.2.3', '192.168.1.7', 'fd12::1', '::1', '8.8.8.8'])
    assert.ok(isAllowedTarget(address, allowed), address);
  for (const address of ['10.2.0.1', '192.168.1.8', 'fc00::1', '::2', '127.0.0.1'])
    assert.ok(!isAllowedTarget(address, allowed), address);
});
