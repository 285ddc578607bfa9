import { sql } from 'kysely';
import type { Dialect } from '../../database.ts';
import { columnTypes } from '../column-types.ts';

/**
 * Sign-in links and sessions of the console. Their tokens are stored as hashes, so a copy of these tables allows
 * nobody to sign in.
 */
export function createConsoleTables(engine: Dialect['engine']) {
  const types = columnTypes[engine];
  return [
    sql`create table console_links (
      token_hash ${types.bytes} primary key,
      made_by text not null,
      expires_at_ms ${types.integer} not null
    ) ${types.end}`,
    sql`create table console_sessions (
      token_hash ${types.bytes} primary key,
      id text not null unique,
      made_by text not null,
      created_at_ms ${types.integer} not null,
      expires_at_ms ${types.integer} not null
    ) ${types.end}`,
  ];
}
