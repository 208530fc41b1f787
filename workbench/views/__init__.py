"""Views: displays of machines and simulations. Each makes a frozen, tested summary and draws it."""
