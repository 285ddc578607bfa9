import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressSubject, kindOf, readerSubject } from '../../../src/limits/rules/address.ts';

test('each IPv4 address is counted separately', () => {
  assert.equal(addressSubject('192.0.2.7'), 'address:192.0.2.7');
  assert.notEqual(addressSubject('192.0.2.7'), addressSubject('192.0.2.8'));
});

test('an IPv4-mapped IPv6 address is counted as its IPv4 address', () => {
  assert.equal(addressSubject('::ffff:192.0.2.7'), addressSubject('192.0.2.7'));
  assert.equal(addressSubject('::FFFF:c000:207'), addressSubject('192.0.2.7'));
});

test('IPv6 addresses are counted by /64', () => {
  assert.equal(addressSubject('2001:db8:0:1::1'), 'address:2001:db8:0:1::/64');
  assert.equal(addressSubject('2001:db8:0:1:ffff:ffff:ffff:ffff'), 'address:2001:db8:0:1::/64');
  assert.notEqual(addressSubject('2001:db8:0:1::1'), addressSubject('2001:db8:0:2::1'));
});

test('all spellings of an IPv6 address are counted as the same address', () => {
  assert.equal(addressSubject('2001:0DB8:0000:0001::1'), addressSubject('2001:db8:0:1::1'));
  assert.equal(addressSubject('::1'), 'address:0:0:0:0::/64');
});

test('the zone of a link-local address is ignored', () => {
  assert.equal(addressSubject('fe80::1%eth0'), addressSubject('fe80::1'));
  assert.equal(addressSubject('fe80::1%eth1'), addressSubject('fe80::1%eth0'));
  assert.equal(addressSubject('::ffff:192.0.2.7%eth0'), addressSubject('192.0.2.7'));
});

test('the port of an address is ignored', () => {
  assert.equal(addressSubject('192.0.2.7:8080'), addressSubject('192.0.2.7'));
  assert.equal(addressSubject('192.0.2.7:65535'), addressSubject('192.0.2.7'));
  assert.equal(addressSubject('[2001:db8:0:1::1]:443'), addressSubject('2001:db8:0:1::1'));
  assert.equal(addressSubject('[::ffff:192.0.2.7]:1'), addressSubject('192.0.2.7'));
  assert.equal(addressSubject('[fe80::1%eth0]:443'), addressSubject('fe80::1'));
});

test('an IPv6 address in brackets needs no port', () => {
  assert.equal(addressSubject('[2001:db8:0:1::1]'), addressSubject('2001:db8:0:1::1'));
  assert.equal(addressSubject('[fe80::1%eth0]'), addressSubject('fe80::1'));
});

test('all texts that are not an address are counted together', () => {
  for (const text of [
    '',
    'unknown',
    '1.2.3.4.5',
    '::ffff:1.2.3.400',
    '%',
    '\0',
    '192.0.2.7:',
    '192.0.2.7:65536',
    '192.0.2.7:80:80',
    '192.0.2.7:80 ',
    '192.0.2.7:+80',
    '192.0.2.400:80',
    '192.0.2:80',
    '[192.0.2.7]:80',
    '[192.0.2.7:80]',
    '[::1]:',
    '[::1]:http',
    '[::1]:443]',
    '[[::1]]:443',
    'example.com:443',
    '_hidden:443',
  ])
    assert.equal(addressSubject(text), 'address:unreadable', text);
});

test('a documentation reader is counted by the same address rules, but separately', () => {
  for (const address of ['192.0.2.7', '2001:db8:0:1::1', 'unknown']) {
    const subject = addressSubject(address);
    assert.equal(readerSubject(address), subject.replace('address:', 'reader:'));
    assert.deepEqual([kindOf(readerSubject(address)), kindOf(subject)], ['readers', 'addresses']);
  }
});
