/** What lets root write where the permissions of files forbid it. */
const powers = '-dac_override,-fowner';

/**
 * Runs a program as this user, bound by the permissions of files: root loses the powers that override them. Another
 * user could not reach the program of a clone in a folder that only its owner may enter.
 */
export const obeyPermissions: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--inh-caps', powers, '--bounding-set', powers] : [];
