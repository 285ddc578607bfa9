import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressSubject, kindOf, readerSubject } from '../../../src/limits/rules/address.ts';

const mapped = ['::ffff:192.0.2.7', '::FFFF:c000:207', '::ffff:192.0.2.7%eth0'];

const subjects = [
  ['an IPv4 address', '192.0.2.7', '192.0.2.7', ...mapped],
  ['another IPv4 address', '192.0.2.8', '192.0.2.8'],
  [
    'the addresses of an IPv6 /64, in any spelling',
    '2001:db8:0:1::/64',
    ...'2001:db8:0:1::1 2001:db8:0:1:ffff:ffff:ffff:ffff 2001:0DB8:0000:0001::1 [2001:db8:0:1::1]'.split(' '),
  ],
  ['the addresses of another /64', '2001:db8:0:2::/64', '2001:db8:0:2::1'],
  ['the loopback address', '0:0:0:0::/64', '::1'],
  ['a link-local address in any zone', 'fe80:0:0:0::/64', 'fe80::1', 'fe80::1%eth0', '[fe80::1%eth0]:443'],
  ['an IPv4 address with a port', '192.0.2.7', '192.0.2.7:8080', '192.0.2.7:65535', '[::ffff:192.0.2.7]:1'],
  ['an IPv4 address of long numbers with a port', '192.120.213.107', '192.120.213.107:8080'],
  ['an IPv6 address with a port', '2001:db8:0:1::/64', '[2001:db8:0:1::1]:443'],
  [
    'all texts that are not an address',
    'unreadable',
    ...['', '\0', '192.0.2.7:80 '],
    ...'unknown 1.2.3.4.5 ::ffff:1.2.3.400 % 192.0.2.7: 192.0.2.7:65536 192.0.2.7:80:80'.split(' '),
    ...'192.0.2.7:+80 192.0.2.400:80 192.0.2:80 [192.0.2.7]:80 [192.0.2.7:80] [::1]: [::1]:http'.split(' '),
    ...'[::1]:443] [[::1]]:443 example.com:443 _hidden:443'.split(' '),
  ],
] as const;

for (const [what, subject, ...spellings] of subjects) {
  test(`${what} are one subject`, () => {
    for (const text of spellings) assert.equal(addressSubject(text), `address:${subject}`, text);
    assert.equal(kindOf(`address:${subject}`), 'addresses');
  });

  test(`${what} are another subject for a reader of the documentation`, () => {
    for (const text of spellings) assert.equal(readerSubject(text), `reader:${subject}`, text);
    assert.equal(kindOf(`reader:${subject}`), 'readers');
  });
}

test('an account is a subject of its own kind', () => {
  assert.equal(kindOf('account:7'), 'accounts');
});
