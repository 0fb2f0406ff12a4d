"""The equations of motion as compiled code: `legs` and `inverse` (the Newton–Euler model), `cells`, `forward`."""
