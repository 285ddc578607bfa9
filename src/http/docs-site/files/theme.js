/* The switch between light and dark colours. Without a choice, the colours follow the system setting. */
const themeName = 'animal-store-theme';
const { documentElement } = document;

function readTheme() {
  try {
    return localStorage.getItem(themeName);
  } catch {
    return null;
  }
}

const chosen = readTheme();
// Set before the page is shown, so that no page flashes in the other colours.
if (chosen !== null) documentElement.dataset.theme = chosen;

function isDark() {
  const { theme } = documentElement.dataset;
  return theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
}

function switchTheme(button) {
  documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  nameSwitch(button);
  try {
    localStorage.setItem(themeName, documentElement.dataset.theme);
  } catch {
    // Storage is not available. The choice applies only to this page.
  }
}

function nameSwitch(button) {
  button.textContent = isDark() ? 'Light' : 'Dark';
  button.setAttribute('aria-label', isDark() ? 'Use light colours' : 'Use dark colours');
}

document.addEventListener('DOMContentLoaded', () => {
  const button = document.querySelector('button.theme');
  nameSwitch(button);
  button.hidden = false;
  button.addEventListener('click', () => switchTheme(button));
});
