create table private.password_links (
  token_hash text primary key,
  account_id uuid not null references auth.users (id) on delete cascade,
  expires_at timestamptz not null,
  redeemed_at timestamptz,
  valid_hours integer not null default 1
);
alter table private.password_links enable row level security;

create index password_links_account_id on private.password_links (account_id);

-- Records that the site emails a password link to an account, and returns the account's email address.
create function public.request_password_link(
  account_id uuid, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor(private.role_to_change_account(account_id), actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('password link', account_id));
  address text;
begin
  select email into address from auth.users
  where id = request_password_link.account_id and email_confirmed_at is not null and coalesce(banned_until < now(), true);
  perform private.reject_if(
    not found, 409, 'You can send a password link only to an open account with a confirmed email address.'
  );
  if not private.is_repeated_action(key) then
    perform private.insert_audit_entry(
      actor, 'account send-password-link', account_id => request_password_link.account_id, idempotency_key => key
    );
  end if;
  return address;
end
$$;

-- Creates a password link and deletes the account's older links. Returns the token: 256 random bits in hexadecimal.
create function public.issue_password_link(account_id uuid, valid_hours integer) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  token text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  -- Serialises parallel calls for one account, so that only the newest link remains.
  perform from auth.users where users.id = issue_password_link.account_id for no key update;
  delete from private.password_links as old
  where old.account_id = issue_password_link.account_id or old.expires_at < now();
  insert into private.password_links (token_hash, account_id, expires_at, valid_hours)
  values (
    private.token_hash(token), issue_password_link.account_id, now() + make_interval(hours => valid_hours), valid_hours
  );
  return token;
end
$$;

-- Returns the account and second factors of a password link, or null if the link is invalid or the account is closed.
create function public.password_link(token text) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'account_id', account.id,
    'email', account.email,
    -- Only links in invitations are valid for more than a day.
    'is_invite', link.valid_hours > 24,
    'is_staff', exists (select from public.staff_members where staff_members.account_id = account.id),
    'factors', (
      select coalesce(jsonb_agg(jsonb_build_object('id', factor.id, 'name', coalesce(factor.friendly_name, ''))
        order by factor.created_at, factor.id), '[]'::jsonb)
      from auth.mfa_factors as factor
      where factor.user_id = account.id and factor.status = 'verified'
    )
  )
  from private.password_links as link
  join auth.users as account on account.id = link.account_id
  where link.token_hash = private.token_hash(password_link.token)
    and link.redeemed_at is null and link.expires_at > now()
    and coalesce(account.banned_until < now(), true)
$$;

-- Marks a password link as used. If several calls run in parallel, only one call returns true.
create function public.redeem_password_link(token text) returns boolean
language sql volatile security definer set search_path = '' as $$
  with redeemed as (
    update private.password_links set redeemed_at = now()
    where token_hash = private.token_hash(redeem_password_link.token)
      and redeemed_at is null and expires_at > now()
    returning true
  )
  select exists (select from redeemed)
$$;

-- Makes a used link valid again, because Supabase Auth could not set the password.
-- A link can be restored for two minutes after its use.
create function public.restore_password_link(token text) returns void
language sql volatile security definer set search_path = '' as $$
  update private.password_links set redeemed_at = null
  where token_hash = private.token_hash(restore_password_link.token)
    and redeemed_at > now() - interval '2 minutes'
$$;

grant execute on function public.request_password_link to authenticated, service_role;
grant execute on function
  public.issue_password_link, public.password_link, public.redeem_password_link, public.restore_password_link
to service_role;
