import type { Database } from '../storage/database.ts';
import { selectSecrets, updateSecret } from './operator-rows.ts';
import type { SecretBox } from './secret-box.ts';

/**
 * Encrypts all stored secrets of webhooks with the current key. This includes secrets that are stored in plain text. A
 * secret that no key decrypts stays unchanged. Returns the number of changed secrets. Throws the errors of the
 * database.
 */
export async function sealSecrets(database: Database, box: SecretBox): Promise<number> {
  let count = 0;
  for (const { id, public_id, secret } of await database.read(selectSecrets, {})) {
    const opened = box.isCurrent(secret, public_id) ? null : box.open(secret, public_id);
    if (opened === null) continue;
    await database.run(updateSecret, { id, secret: box.seal(opened, public_id) });
    count += 1;
  }
  return count;
}
