/** The capabilities that let root ignore the permissions of files. */
const powers = '-dac_override,-fowner';

/**
 * Runs a program as this user, but subject to file permissions: root loses the capabilities that override them. Another
 * user may be unable to enter the folder of the clone.
 */
export const obeyPermissions: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--inh-caps', powers, '--bounding-set', powers] : [];
