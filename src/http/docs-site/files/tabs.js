/* Remembers the chosen language of the samples for other pages. */
const languageName = 'animal-store-language';

function readLanguage() {
  try {
    return localStorage.getItem(languageName);
  } catch {
    return null;
  }
}

const known = readLanguage();
for (const input of document.querySelectorAll('input[name="language"]')) {
  if (input.value === known) input.checked = true;
  input.addEventListener('change', () => {
    try {
      localStorage.setItem(languageName, input.value);
    } catch {
      // Storage is not available. The choice applies only to this page.
    }
  });
}
