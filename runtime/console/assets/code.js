'use strict';
// A code is gone when its page is left, so that going back shows none.
addEventListener('pagehide', () => {
  document.getElementById('secret').textContent = '';
  document.getElementById('left').textContent = 'The code went when you left this page.';
});
