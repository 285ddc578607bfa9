/** The capabilities that let root ignore the permissions of files. */
const powers = '-dac_override,-fowner';

/**
 * A command that runs a program as this user without the capabilities that override file permissions. It does not use
 * another user, because that user may be unable to enter the folder of the clone.
 */
export const obeyPermissions: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--inh-caps', powers, '--bounding-set', powers] : [];
