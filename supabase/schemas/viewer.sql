-- Returns the caller's account, verified factors, authenticator assurance level (AAL) and staff role.
-- Returns null if the session has ended, even if the access token has not expired.
create function private.viewer() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'email', account.email,
      'full_name', account.raw_user_meta_data ->> 'full_name',
      'has_aal2', coalesce(session.aal::text = 'aal2', false),
      'factors', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', factor.id, 'name', coalesce(factor.friendly_name, ''), 'created_at', factor.created_at
        ) order by factor.created_at, factor.id), '[]'::jsonb)
        from auth.mfa_factors as factor
        where factor.user_id = account.id and factor.status = 'verified'
      ),
      'staff', (
        select jsonb_build_object('name', staff_member.name, 'role', staff_member.role)
        from public.staff_members as staff_member
        where staff_member.account_id = account.id and staff_member.removed_at is null
      )
    )
    from auth.users as account
    join auth.sessions as session on session.user_id = account.id
    where account.id = (select auth.uid()) and session.id = ((select auth.jwt()) ->> 'session_id')::uuid
  );
end
$$;

-- True if the caller's session is active, and has AAL2 if the account has a verified factor.
-- An access token is not enough, because the token still claims aal2 after the factor has been removed.
-- The language is PL/pgSQL, because PL/pgSQL caches the query plan between calls.
create function private.has_valid_session() returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := auth.jwt();
  caller constant uuid := auth.uid();
begin
  return exists (
    select from auth.sessions as session
    where session.id = (claims ->> 'session_id')::uuid and session.user_id = caller
      and (
        (claims ->> 'aal' = 'aal2' and session.aal::text = 'aal2')
        or not exists (
          select from auth.mfa_factors as factor where factor.user_id = caller and factor.status = 'verified'
        )
      )
  );
end
$$;

-- Returns only the viewer, for requests that need no page data, such as form submissions.
create function public.get_viewer() returns jsonb
language plpgsql stable security invoker set search_path = '' as $$
begin
  return jsonb_build_object('viewer', private.viewer());
end
$$;

-- Returns the IDs of an account's sessions that were used within 30 days.
-- If the account has a verified factor, returns only sessions with AAL2.
create function private.active_sessions(account_id uuid) returns setof uuid
language sql stable security definer set search_path = '' as $$
  select session.id
  from auth.sessions as session
  where session.user_id = active_sessions.account_id
    and coalesce(session.updated_at, session.created_at) > now() - interval '30 days'
    and (
      session.aal = 'aal2' or not exists (
        select from auth.mfa_factors as factor where factor.user_id = active_sessions.account_id and factor.status = 'verified'
      )
    )
$$;

grant execute on function private.viewer, private.has_valid_session, public.get_viewer to authenticated;
