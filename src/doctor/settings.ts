import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import ipaddr from 'ipaddr.js';
import type { Config } from '../config.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { type Finding, ok, warning } from './finding.ts';

/** A piece of advice: whether it applies, the state that was found, and what to do. */
type Rule = readonly [applies: boolean, is: string, todo: string];

/** Warns of settings that do not fit together. Each setting is valid by itself, so the service starts with them. */
export function checkSettings(config: Config): Finding[] {
  const advice = listRules(config).filter(([applies]) => applies);
  if (advice.length === 0) return [ok('settings', `all are valid, for ${config.environment}`)];
  return advice.map(([, is, todo]) => warning('settings', is, todo));
}

function listRules(config: Config): Rule[] {
  const { environment, publicUrl, host, opsHost, trustProxy, redisUrl } = config;
  const isProduction = environment === 'production';
  const url = publicUrl === null ? null : new URL(publicUrl);
  const { engine, location } = parseStoreAddress(config.databaseUrl);
  const isSqlite = engine === 'sqlite';
  return [
    [
      isProduction && url === null,
      'PUBLIC_URL is not set, so clients get addresses without a host',
      'set PUBLIC_URL to the address that clients see',
    ],
    [
      isProduction && url?.protocol === 'http:' && !isLoopback(url.hostname),
      'PUBLIC_URL is http, so API keys are sent unencrypted',
      'put a proxy with TLS in front of the service, and its https address into PUBLIC_URL',
    ],
    [
      url?.protocol === 'https:' && trustProxy === false,
      'PUBLIC_URL is https, so there is a proxy, but TRUST_PROXY is false: all clients count as one address',
      "set TRUST_PROXY to the proxy's address, or to the number of proxies",
    ],
    [
      isOpenToWorld(opsHost) || (opsHost === host && !isLoopback(host)),
      `OPS_HOST is ${opsHost}: clients may reach the operator's port, which needs no key`,
      'set OPS_HOST to an address that clients cannot reach, or close OPS_PORT to them with a firewall',
    ],
    [
      isSqlite && redisUrl !== null,
      'REDIS_URL is set, but only one service can serve a SQLite file',
      'unset REDIS_URL, or move the store to PostgreSQL',
    ],
    [
      isSqlite && environment !== 'development' && !isAbsolute(location),
      'DATABASE_URL is relative, so the store depends on the folder in which a command runs',
      'use an absolute path: sqlite:/var/lib/animal-store/animal-store.db',
    ],
    [
      !isSqlite && /[?&]host=[^&]*,/.test(location),
      'DATABASE_URL names several hosts in the parameter "host", which means one host here',
      'name them before the database: postgres://user@h1:5432,h2:5432/store',
    ],
    [
      redisUrl !== null && /^rediss?:[^?]*,/.test(redisUrl),
      'REDIS_URL names several hosts in the form of one server',
      'name the Sentinels: redis+sentinel://s1:26379,s2:26379/mymaster',
    ],
    [
      isProduction && config.webhookSecretKeys.length === 0,
      'WEBHOOK_SECRET_KEY is not set, so a reader of the store or of a backup can sign messages',
      'set it to the key of the store. If it never had one, set what "openssl rand -base64 32" prints: the next start encrypts the secrets',
    ],
  ];
}

function isOpenToWorld(host: string): boolean {
  return ['0.0.0.0', '::'].includes(host) || (isIP(host) !== 0 && ipaddr.process(host).range() === 'unicast');
}

function isLoopback(host: string): boolean {
  return ['localhost', '[::1]', '::1'].includes(host) || (isIP(host) === 4 && host.startsWith('127.'));
}
